import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { HeartbeatMonitor } from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
import type { PingKey } from "@scheduling/domain/monitors/heartbeat/PingKey"
import { Effect, Redacted } from "effect"
import { currentActor, mayWrite } from "../../accounts/index.ts"
import { implement, inWorkspace, requestBaseUrl, preventCompression } from "../../http/index.ts"
import { timestampOf } from "../../store/index.ts"
import { monitorHandlers } from "../monitorHandlers.ts"
import { makeKindMonitors } from "../KindMonitors.ts"
import { heartbeatMonitorKind } from "./heartbeatMonitorKind.ts"
import type { Heartbeat } from "./HeartbeatRow.ts"
import { HeartbeatsRepo } from "./HeartbeatsRepo.ts"
import { type CreatedPingKey, PingKeys } from "./PingKeys.ts"
import { PingUrls } from "./PingUrls.ts"

export const HeartbeatMonitorsHandlers = implement(
  Api,
  "heartbeatMonitors",
  Effect.fnUntraced(function* (handlers) {
    const heartbeats = yield* makeKindMonitors(yield* heartbeatMonitorKind)
    const repo = yield* HeartbeatsRepo
    const urls = yield* PingUrls
    const keys = yield* PingKeys
    const baseUrl = yield* requestBaseUrl
    const show = (key: CreatedPingKey | null) =>
      Effect.map(baseUrl, (base): PingKey =>
        key === null
          ? { ping_key: null, ping_url: null, created_at: null }
          : {
              ping_key: Redacted.make(key.key, { label: "ping_key" }),
              ping_url: Redacted.make(`${base}/ping/${key.key}`, { label: "ping_url" }),
              created_at: timestampOf(key.created_at)
            }
      )
    const { common, handleMonitor } = yield* monitorHandlers(heartbeats, {
      answer: HeartbeatMonitor,
      createOperation: "heartbeat_monitors.create",
      toAnswer: toAnswerWith(baseUrl)
    })
    return handlers.handleAll({
      ...common,

      rotateUrl: inWorkspace(
        handleMonitor((workspaceId, id) =>
          heartbeats.act(workspaceId, id, (row) => repo.updatePingUrl(urls.make(row)))
        )
      ),

      getPingKey: inWorkspace((workspaceId) =>
        Effect.flatMap(keys.find(workspaceId), (key) =>
          Effect.andThen(preventCompression, show(key))
        )
      ),

      rotatePingKey: inWorkspace(
        Effect.fnUntraced(function* (workspaceId) {
          const key = yield* keys.rotate(yield* currentActor, workspaceId)
          yield* preventCompression
          return yield* show(key)
        })
      )
    })
  })
)

/**
 * Shows the ping URL only to a caller who has permission to write, because anybody with the URL can
 * send pings that keep the monitor from going down.
 */
const toAnswerWith = (baseUrl: Effect.Success<typeof requestBaseUrl>) =>
  Effect.gen(function* () {
    const base = yield* baseUrl
    const isShown = mayWrite(yield* Principal, "monitors:write")
    return ({ shown_ping_id: id, ...heartbeat }: Heartbeat): HeartbeatMonitor => ({
      ...heartbeat,
      ping_url: isShown && id !== null ? `${base}/ping/${id}` : null
    })
  })
