import { workerProtocolVersion } from "@scheduling/domain/workers/WorkerProtocol"
import { Effect } from "effect"
import packageJson from "../../package.json" with { type: "json" }
import { AgentState } from "../AgentState.ts"
import { requestTimeoutMs, ServiceClient } from "../service/ServiceClient.ts"

export const sendHello = Effect.gen(function* () {
  const { retries, settings } = yield* AgentState
  const service = yield* ServiceClient
  return yield* retries.untilAnswered(
    "starting a session",
    Effect.timeout(
      service.hello({
        payload: {
          protocol: workerProtocolVersion,
          version: packageJson.version,
          host: settings.host,
          slots: settings.slots,
          ...(settings.labels !== undefined && { labels: settings.labels })
        }
      }),
      requestTimeoutMs
    )
  )
})
