import { hashOf } from "@scheduling/domain/shared/hashOf"
import { Effect } from "effect"
import type { SecureConnections } from "../Call.ts"
import type { Open } from "../exchange/Connections.ts"
import { TlsThread } from "./TlsThread.ts"

/** Makes the connections that need TLS in so many threads. An origin stays with its thread. */
export const tlsThreads =
  (count: number): NonNullable<ReturnType<typeof SecureConnections.defaultValue>> =>
  (rules) =>
    Effect.gen(function* () {
      const runFork = Effect.runForkWith(yield* Effect.context())
      const tellCrash = (error: unknown) =>
        void runFork(
          Effect.logError("a thread for TLS crashed; another one takes its place", error)
        )
      const threads = yield* Effect.acquireRelease(
        Effect.sync(() => Array.from({ length: count }, () => new TlsThread(rules, tellCrash))),
        (all) => Effect.promise(() => Promise.all(all.map((thread) => thread.close())))
      )
      const threadOf = (origin: string) => threads[hashOf(origin) % threads.length]
      const open: Open = (origin) => {
        const thread = threadOf(origin)
        if (thread === undefined) throw new Error("there is no thread for TLS")
        return thread.open(origin)
      }
      return open
    })
