"""A LangChain chain with a chat history and a retriever."""

from __future__ import annotations

from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage

from amber_memory import Amber
from amber_memory.integrations.langchain import AmberChatMessageHistory, AmberRetriever

with Amber(user_id="ada") as amber:
    amber.remember("Ada takes the train to work")
    history = AmberChatMessageHistory("chat-1", amber)
    retriever = AmberRetriever(client=amber, k=2, options={"layers": ["memory"]})
    model = FakeListChatModel(responses=["You take the train."])  # a stub in place of a model
    question = "how do I get to work?"
    known = "\n".join(d.page_content for d in retriever.invoke(question))
    answer = model.invoke([*history.messages, HumanMessage(f"{known}\n\n{question}")])
    history.add_messages([HumanMessage(question), answer])
    print(known)
    print([m.content for m in AmberChatMessageHistory("chat-1", amber).messages])
