import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { includesRole } from "@scheduling/domain/members/Role"
import { HeartbeatMonitor } from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../../core/index.ts"
import { httpsCheck, implement, inWorkspace } from "../../http/index.ts"
import { monitorHandlers } from "../monitorHandlers.ts"
import { makeKindMonitors } from "../KindMonitors.ts"
import { heartbeatKind } from "./heartbeatKind.ts"
import type { Heartbeat } from "./HeartbeatRow.ts"
import { HeartbeatsRepo } from "./HeartbeatsRepo.ts"
import { PingUrls } from "./PingUrls.ts"

export const HeartbeatMonitorsHandlers = implement(
  Api,
  "heartbeatMonitors",
  Effect.fnUntraced(function* (handlers) {
    const heartbeats = yield* makeKindMonitors(yield* heartbeatKind)
    const repo = yield* HeartbeatsRepo
    const urls = yield* PingUrls
    const { common, handleMonitor } = yield* monitorHandlers(heartbeats, {
      answer: HeartbeatMonitor,
      createOperation: "heartbeat_monitors.create",
      toAnswer: toAnswerWith((yield* AppConfig).publicUrl, yield* httpsCheck)
    })
    return handlers.handleAll({
      ...common,

      rotateUrl: inWorkspace(
        handleMonitor((workspaceId, id) =>
          heartbeats.act(workspaceId, id, (row) => repo.updatePingUrl(urls.make(row)))
        )
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
    const base = publicUrl ?? requestUrl(yield* HttpServerRequest.HttpServerRequest, isHttps)
    const isShown = mayPing(yield* Principal)
    return ({ ping_id, ...heartbeat }: Heartbeat): HeartbeatMonitor => ({
      ...heartbeat,
      ping_url: isShown && ping_id !== null ? `${base}/ping/${ping_id}` : null
    })
  })

/** Returns the base URL of the request, which a job can probably reach too. */
const requestUrl = (request: HttpServerRequest.HttpServerRequest, isHttps: IsHttps): string =>
  `${isHttps(request) ? "https" : "http"}://${request.headers["host"] ?? "localhost"}`

type IsHttps = Effect.Success<typeof httpsCheck>
