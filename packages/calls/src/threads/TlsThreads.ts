import { hashOf } from "@scheduling/domain/shared/hashOf"
import { Effect } from "effect"
import type { SecureConnections } from "../Call.ts"
import type { Open } from "../exchange/Connections.ts"
import { TlsThread } from "./TlsThread.ts"

/** Makes the connections that need TLS in so many threads. An origin stays with its thread. */
export const tlsThreads =
  (count: number): NonNullable<ReturnType<typeof SecureConnections.defaultValue>> =>
  (rules) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => Array.from({ length: count }, () => new TlsThread(rules))),
        (threads) => Effect.promise(() => Promise.all(threads.map((thread) => thread.close())))
      ),
      (threads): Open => {
        const threadOf = (origin: string) => threads[hashOf(origin) % threads.length]
        return (origin) => {
          const thread = threadOf(origin)
          if (thread === undefined) throw new Error("there is no thread for TLS")
          return thread.open(origin)
        }
      }
    )
