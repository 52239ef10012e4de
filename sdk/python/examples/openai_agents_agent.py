"""An agent of the OpenAI Agents SDK whose conversation lasts."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from amber_memory import AsyncAmber
from amber_memory.integrations.openai_agents import AmberSession


class Stub(Model):
    """A stub in place of a model: it says how many messages it has seen."""

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **more: Any) -> ModelResponse:
        text = ResponseOutputText(text=f"I have seen {len(input)} messages", type="output_text", annotations=[])
        message = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


async def main() -> None:
    set_tracing_disabled(True)
    for question in ("Hello", "What did I say?"):
        async with AsyncAmber(user_id="ada") as amber:
            result = await Runner.run(Agent(name="assistant", model=Stub()), question, session=AmberSession("conversation-1", amber))
            print(result.final_output)


asyncio.run(main())
