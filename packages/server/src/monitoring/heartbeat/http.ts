import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { includesRole } from "@scheduling/domain/members/Role"
import { HeartbeatMonitor } from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
import type { PingKey } from "@scheduling/domain/monitors/heartbeat/PingKey"
import { Effect, Redacted } from "effect"
import { HttpServerRequest } from "effect/http"
import { currentActor } from "../../accounts/index.ts"
import { AppConfig } from "../../core/index.ts"
import { httpsCheck, implement, inWorkspace, uncompressed } from "../../http/index.ts"
import { timestampOf } from "../../store/index.ts"
import { monitorHandlers } from "../monitorHandlers.ts"
import { makeKindMonitors } from "../KindMonitors.ts"
import { heartbeatKind } from "./heartbeatKind.ts"
import type { Heartbeat } from "./HeartbeatRow.ts"
import { HeartbeatsRepo } from "./HeartbeatsRepo.ts"
import { type CreatedPingKey, PingKeys } from "./PingKeys.ts"
import { PingUrls } from "./PingUrls.ts"

export const HeartbeatMonitorsHandlers = implement(
  Api,
  "heartbeatMonitors",
  Effect.fnUntraced(function* (handlers) {
    const heartbeats = yield* makeKindMonitors(yield* heartbeatKind)
    const repo = yield* HeartbeatsRepo
    const urls = yield* PingUrls
    const keys = yield* PingKeys
    const { publicUrl } = yield* AppConfig
    const isHttps = yield* httpsCheck
    const show = (key: CreatedPingKey | null) =>
      Effect.map(baseUrl(publicUrl, isHttps), (base): PingKey =>
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
      toAnswer: toAnswerWith(publicUrl, isHttps)
    })
    return handlers.handleAll({
      ...common,

      rotateUrl: inWorkspace(
        handleMonitor((workspaceId, id) =>
          heartbeats.act(workspaceId, id, (row) => repo.updatePingUrl(urls.make(row)))
        )
      ),

      getPingKey: inWorkspace((workspaceId) =>
        Effect.flatMap(keys.find(workspaceId), (key) => Effect.andThen(uncompressed, show(key)))
      ),

      rotatePingKey: inWorkspace(
        Effect.fnUntraced(function* (workspaceId) {
          const key = yield* keys.rotate(yield* currentActor, workspaceId)
          yield* uncompressed
          return yield* show(key)
        })
      )
    })
  })
)

/**
 * Returns whether the caller may see the ping URL. A ping silences the alarm, so read access is not
 * enough.
 */
const mayPing = (principal: Principal["Service"]) =>
  principal.kind === "jwt"
    ? principal.role !== null && includesRole(principal.role, "editor")
    : principal.scopes.includes("monitors:write")

const toAnswerWith = (publicUrl: string | undefined, isHttps: IsHttps) =>
  Effect.gen(function* () {
    const base = yield* baseUrl(publicUrl, isHttps)
    const isShown = mayPing(yield* Principal)
    return ({ shown_ping_id: id, ...heartbeat }: Heartbeat): HeartbeatMonitor => ({
      ...heartbeat,
      ping_url: isShown && id !== null ? `${base}/ping/${id}` : null
    })
  })

/** Without `PUBLIC_URL`, returns the base URL of the request, which a job can probably reach too. */
const baseUrl = (publicUrl: string | undefined, isHttps: IsHttps) =>
  Effect.map(
    HttpServerRequest.HttpServerRequest,
    (request) =>
      publicUrl ??
      `${isHttps(request) ? "https" : "http"}://${request.headers["host"] ?? "localhost"}`
  )

type IsHttps = Effect.Success<typeof httpsCheck>
