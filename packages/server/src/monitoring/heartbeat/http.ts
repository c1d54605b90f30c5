import { Api } from "@scheduling/domain/Api"
import { Principal } from "@scheduling/domain/auth/Principal"
import { includesRole } from "@scheduling/domain/members/Role"
import { HeartbeatMonitor } from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { AppConfig } from "../../core/index.ts"
import { createdIfNew, httpsCheck, Idempotency, implement, inWorkspace } from "../../http/index.ts"
import type { Heartbeat } from "./HeartbeatRow.ts"
import { Heartbeats } from "./Heartbeats.ts"

export const HeartbeatMonitorsHandlers = implement(
  Api,
  "heartbeatMonitors",
  Effect.fnUntraced(function* (handlers) {
    const heartbeats = yield* Heartbeats
    const idempotency = yield* Idempotency
    const toRecord = makeToRecord((yield* AppConfig).publicUrl, yield* httpsCheck)
    const asRecord = <E, R>(heartbeat: Effect.Effect<Heartbeat, E, R>) =>
      Effect.flatMap(heartbeat, (one) => Effect.map(toRecord, (toOne) => toOne(one)))
    return handlers.handleAll({
      list: inWorkspace(
        Effect.fnUntraced(function* (workspaceId, { query }) {
          const { data, next_cursor } = yield* heartbeats.list(workspaceId, query)
          return { data: data.map(yield* toRecord), next_cursor }
        })
      ),

      create: inWorkspace((workspaceId, { headers, payload }) =>
        asRecord(heartbeats.create(workspaceId, payload)).pipe(
          idempotency.once({
            key: headers["idempotency-key"],
            workspaceId,
            operation: "heartbeat_monitors.create",
            payload,
            answer: HeartbeatMonitor
          })
        )
      ),

      upsert: inWorkspace((workspaceId, { params, payload }) =>
        asRecord(createdIfNew(heartbeats.upsert(workspaceId, params.key, payload)))
      ),

      get: inWorkspace((workspaceId, { params }) =>
        asRecord(heartbeats.get(workspaceId, params.monitor_id))
      ),

      update: inWorkspace((workspaceId, { params, payload }) =>
        asRecord(heartbeats.update(workspaceId, params.monitor_id, payload))
      ),

      remove: inWorkspace((workspaceId, { params }) =>
        heartbeats.remove(workspaceId, params.monitor_id)
      ),

      pause: inWorkspace((workspaceId, { params }) =>
        asRecord(heartbeats.pause(workspaceId, params.monitor_id))
      ),

      resume: inWorkspace((workspaceId, { params }) =>
        asRecord(heartbeats.resume(workspaceId, params.monitor_id))
      ),

      rotateUrl: inWorkspace((workspaceId, { params }) =>
        asRecord(heartbeats.rotateUrl(workspaceId, params.monitor_id))
      ),

      events: inWorkspace((workspaceId, { params, query }) =>
        heartbeats.events(workspaceId, params.monitor_id, query)
      )
    })
  })
)

/** A ping silences the alarm, which one who may only read must not be able to do. */
const mayPing = (principal: Principal["Service"]) =>
  principal.kind === "jwt"
    ? principal.role !== null && includesRole(principal.role, "editor")
    : principal.scopes.includes("monitors:write")

const makeToRecord = (publicUrl: string | undefined, isHttps: IsHttps) =>
  Effect.gen(function* () {
    const base = publicUrl ?? askedUrl(yield* HttpServerRequest.HttpServerRequest, isHttps)
    const isShown = mayPing(yield* Principal)
    return ({ ping_id, ...heartbeat }: Heartbeat): HeartbeatMonitor => ({
      ...heartbeat,
      ping_url: isShown && ping_id !== null ? `${base}/ping/${ping_id}` : null
    })
  })

/** The address by which the request reached the service: the job that pings most likely can, too. */
const askedUrl = (request: HttpServerRequest.HttpServerRequest, isHttps: IsHttps): string =>
  `${isHttps(request) ? "https" : "http"}://${request.headers["host"] ?? "localhost"}`

type IsHttps = Effect.Success<typeof httpsCheck>
