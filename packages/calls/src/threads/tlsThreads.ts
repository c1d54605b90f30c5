import { hashOf } from "@scheduling/domain/shared/hashOf"
import { Effect } from "effect"
import type { SecureConnections } from "../OutgoingCalls.ts"
import type { CreateConnection } from "../exchange/Connections.ts"
import { TlsThread } from "./TlsThread.ts"

/** Opens TLS connections in `count` threads. Each origin always uses the same thread. */
export const tlsThreads =
  (count: number): NonNullable<ReturnType<typeof SecureConnections.defaultValue>> =>
  (rules) =>
    Effect.gen(function* () {
      const runFork = Effect.runForkWith(yield* Effect.context())
      const logCrash = (error: unknown) =>
        void runFork(Effect.logError("a TLS thread crashed and will be restarted", error))
      const threads = yield* Effect.acquireRelease(
        Effect.sync(() => Array.from({ length: count }, () => new TlsThread(rules, logCrash))),
        (all) => Effect.promise(() => Promise.all(all.map((thread) => thread.close())))
      )
      const threadOf = (origin: string) => threads[hashOf(origin) % threads.length]
      const open: CreateConnection = (origin) => {
        const thread = threadOf(origin)
        if (thread === undefined) throw new Error("there is no thread for TLS")
        return thread.open(origin)
      }
      return open
    })
