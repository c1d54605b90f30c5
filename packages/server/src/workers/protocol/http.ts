import { CurrentWorker } from "@scheduling/domain/workers/WorkerAuthentication"
import { RoutedWorkerApi } from "@scheduling/domain/workers/WorkerProtocolApi"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Results } from "./Results.ts"
import { AgentSessions } from "./AgentSessions.ts"

export const WorkerProtocolHandlers = HttpApiBuilder.group(
  RoutedWorkerApi,
  "protocol",
  Effect.fnUntraced(function* (handlers) {
    const results = yield* Results
    const sessions = yield* AgentSessions
    return handlers.handleAll({
      hello: Effect.fnUntraced(function* ({ payload }) {
        return yield* sessions.begin(yield* CurrentWorker, payload)
      }),

      beat: Effect.fnUntraced(function* ({ payload }) {
        return yield* sessions.beat(yield* CurrentWorker, payload)
      }),

      results: Effect.fnUntraced(function* ({ payload }) {
        return { receipts: yield* results.write(yield* CurrentWorker, payload) }
      })
    })
  })
)
