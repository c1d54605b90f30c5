import { workerProtocolVersion } from "@scheduling/domain/workers/WorkerProtocol"
import { Effect } from "effect"
import packageJson from "../../package.json" with { type: "json" }
import { Agent } from "../Agent.ts"
import { requestTimeoutMs, Service } from "../service/Service.ts"

export const sendHello = Effect.gen(function* () {
  const { retries, settings } = yield* Agent
  const service = yield* Service
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
