// One exchange of a request and the beginning of its answer, over node:http.
import { type IncomingMessage, request as overHttp, type RequestOptions } from "node:http";
import { request as overHttps } from "node:https";
import type { Socket } from "node:net";

import type { Endpoint } from "./endpoint.js";
import { Failed, transportFailure } from "./failed.js";
import type { Request } from "./request.js";
import type { Source } from "./upload.js";

/** How an exchange is made. */
export interface Manner {
  readonly accept: string;
  /**
   * Has a connection of its own: an answer that goes on for long would keep others waiting, and a body that can be sent once must not
   * meet a kept connection that the server is closing.
   */
  readonly apart: boolean;
  /** The answer is read after the call has returned. */
  readonly goesOn: boolean;
}

/** Sends a request and returns the answer once its head is there. Redirects are not followed. It throws [Failed]. */
export async function exchange(endpoint: Endpoint, r: Request, manner: Manner, signal: AbortSignal): Promise<IncomingMessage> {
  signal.throwIfAborted();
  let source: Source | undefined;
  if (r.body !== null && "open" in r.body) {
    source = await r.body.open();
  }
  return new Promise<IncomingMessage>((resolve, reject) => {
    let sent = false;
    const req = (endpoint.secure ? overHttps : overHttp)(requestOptions(endpoint, r, manner, source));
    const stop = (): void => void req.destroy(signal.reason instanceof Error ? signal.reason : new Error("ended"));
    signal.addEventListener("abort", stop, { once: true });
    req.once("close", () => signal.removeEventListener("abort", stop));
    req.once("socket", (socket: Socket) => {
      if (!socket.connecting) {
        sent = true; // a connection that was kept
        return;
      }
      socket.once(endpoint.secure ? "secureConnect" : "connect", () => (sent = true));
    });
    req.once("response", resolve);
    req.on("error", (cause) => reject(signal.aborted ? signal.reason : transportFailure(endpoint, cause, sent)));
    if (r.body === null) {
      req.end();
    } else if ("bytes" in r.body) {
      req.end(r.body.bytes);
    } else {
      sendPieces(req, (source as Source).pieces).catch((cause: unknown) => {
        reject(new Failed(cause, "never"));
        req.destroy();
      });
    }
  });
}

function requestOptions(endpoint: Endpoint, r: Request, manner: Manner, source: Source | undefined): RequestOptions {
  const headers: Record<string, string> = { ...r.headers, Accept: manner.accept };
  if (endpoint.asked !== undefined) {
    headers["Host"] = endpoint.asked;
  }
  if (endpoint.token !== undefined) {
    headers["Authorization"] = "Bearer " + endpoint.token;
  }
  if (r.body !== null && "bytes" in r.body) {
    headers["Content-Length"] = String(r.body.bytes.byteLength);
  } else if (source?.size !== undefined) {
    headers["Content-Length"] = String(source.size);
  } else if (r.body === null && r.method !== "GET") {
    headers["Content-Length"] = "0";
  }
  return {
    method: r.method,
    path: endpoint.root + r.path,
    headers,
    agent: manner.apart ? false : endpoint.agent,
    ...(endpoint.socketPath === undefined ? { host: endpoint.host } : { socketPath: endpoint.socketPath }),
    ...(endpoint.port === undefined ? {} : { port: endpoint.port }),
    ...(endpoint.secure && endpoint.ca !== undefined ? { ca: endpoint.ca } : {}),
  } as RequestOptions;
}

/** Sends pieces as fast as they are taken. It ends early when the answer has come: a server need not read all. */
async function sendPieces(req: ReturnType<typeof overHttp>, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) {
    if (req.destroyed || req.writableEnded) {
      return;
    }
    if (!(piece instanceof Uint8Array)) {
      throw new TypeError("upload: the stream gave something else than bytes");
    }
    if (!req.write(piece)) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          req.off("drain", go);
          req.off("close", go);
          resolve();
        };
        req.on("drain", go);
        req.on("close", go);
      });
    }
  }
  req.end();
}
