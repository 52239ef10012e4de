// amber-memory opencode plugin. Written by `amber setup opencode`; changes are overwritten.
//
// Tells Amber what happens in OpenCode, one process and one JSON object per event, and adds
// what Amber remembers to the system prompt. It never throws, and never holds up a tool.

import { spawn } from "node:child_process"

const command = ["amber"]
const patience = 1500 // ms that an answer is waited for
const longest = 1 << 20 // characters of an answer
const most = 20 // sessions whose end is told when OpenCode ends

export const Amber = async ({ directory, worktree } = {}) => {
  const parents = new Map() // child session -> parent session
  const contexts = new Map() // session -> promise of what Amber remembers
  const seen = new Set() // sessions that are under way
  let current // the session heard of last

  // tell hands an event to Amber. The promise is of its answer, "" when there is none, and is
  // never rejected.
  const tell = (type, sessionID, fields) =>
    new Promise((resolve) => {
      let out = ""
      const done = () => resolve(out)
      try {
        if (sessionID) current = sessionID
        const payload = { type, sessionID, parentID: parents.get(sessionID), cwd: directory, workspace_roots: worktree ? [worktree] : undefined, ...fields }
        const [file, ...args] = command
        const child = spawn(file, [...args, "hook", "opencode", "--event", type], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
        child.on("error", done)
        child.on("close", done)
        child.stdin.on("error", () => {})
        child.stdout.on("error", () => {})
        child.stdout.on("data", (chunk) => {
          if (out.length < longest) out += chunk
        })
        child.stdin.end(JSON.stringify(payload))
      } catch {
        done()
      }
    })

  // soon is a promise, but no longer than patience.
  const soon = (promise) => {
    let timer
    const late = new Promise((resolve) => {
      timer = setTimeout(() => resolve(""), patience)
    })
    return Promise.race([promise, late]).finally(() => clearTimeout(timer))
  }

  // remember notes what an answer says for the session.
  const remember = (sessionID, answer) => {
    const before = contexts.get(sessionID)
    const next = answer.then((out) => {
      try {
        const context = JSON.parse(out).context
        if (typeof context === "string" && context) return context
      } catch {}
      return before ?? "" // nothing new to say
    })
    contexts.set(sessionID, next)
    return next
  }

  const forget = (sessionID) => {
    parents.delete(sessionID)
    contexts.delete(sessionID)
    seen.delete(sessionID)
  }

  const on = {
    "session.created": ({ info }) => {
      seen.add(info.id)
      if (info.parentID) parents.set(info.id, info.parentID)
      const answer = tell("session.created", info.id, { title: info.title, host_version: info.version })
      if (!info.parentID) remember(info.id, answer)
    },
    "session.deleted": ({ info }) => {
      const answer = tell("session.deleted", info.id)
      forget(info.id)
      return answer
    },
    "session.idle": ({ sessionID }) => tell("session.idle", sessionID),
    "session.compacted": ({ sessionID }) => tell("session.compacted", sessionID),
    "session.error": ({ sessionID, error }) => tell("session.error", sessionID ?? current, { error }),
    "todo.updated": ({ sessionID, todos }) => void tell("todo.updated", sessionID, { todos }),
    "file.edited": ({ file }) => void tell("file.edited", current, { file }),
  }

  // safely runs a handler whatever is wrong with what it is given.
  const safely = (handler) => async (...args) => {
    try {
      await handler(...args)
    } catch {}
  }

  return {
    event: safely(async ({ event }) => {
      const handler = on[event.type]
      if (handler) await soon(Promise.resolve(handler(event.properties ?? {})))
    }),
    "chat.message": safely(async ({ sessionID, messageID, agent, model }, { message, parts }) => {
      seen.add(sessionID)
      const prompt = parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n\n")
      const answer = tell("chat.message", sessionID, { messageID: messageID ?? message?.id, agent, model: model ?? message?.model, prompt })
      await soon(parents.has(sessionID) ? answer : remember(sessionID, answer))
    }),
    "tool.execute.before": safely(async ({ tool, sessionID, callID }, { args }) => {
      void tell("tool.execute.before", sessionID, { tool, callID, args })
    }),
    "tool.execute.after": safely(async ({ tool, sessionID, callID, args }, { title, output, metadata }) => {
      void tell("tool.execute.after", sessionID, { tool, callID, args, title, output, metadata })
    }),
    "experimental.text.complete": safely(async ({ sessionID, messageID, partID }, { text }) => {
      void tell("experimental.text.complete", sessionID, { messageID, partID, text })
    }),
    "experimental.chat.system.transform": safely(async ({ sessionID }, { system }) => {
      const context = contexts.has(sessionID) ? await soon(contexts.get(sessionID)) : ""
      if (context) system.push(context)
    }),
    "experimental.session.compacting": safely(async ({ sessionID }, output) => {
      await soon(tell("experimental.session.compacting", sessionID))
      const context = contexts.has(sessionID) ? await soon(contexts.get(sessionID)) : ""
      if (context) output.context.push(context)
    }),
    dispose: safely(async () => {
      await soon(Promise.all([...seen].slice(-most).map((id) => tell("dispose", id))))
    }),
  }
}
