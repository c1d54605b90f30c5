import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { docs } from "../shared/docs.ts"
import { ApiError } from "../shared/Errors.ts"
import { ErrorShape } from "../shared/ErrorShape.ts"
import { WorkerAuthentication } from "./WorkerAuthentication.ts"
import {
  WorkerBeat,
  ClaimResponse,
  WorkerClaim,
  WorkerHello,
  WorkerOrders,
  workerProtocolVersion,
  WorkerReceipts,
  WorkerResults,
  WorkerWelcome
} from "./WorkerProtocol.ts"

export class AgentOutdated extends ApiError<AgentOutdated>()("AgentOutdated", {
  status: 409,
  code: "agent_outdated",
  message: `The service speaks version ${workerProtocolVersion} of the worker protocol, and this agent speaks another version. Install the agent version that matches the service.`
}) {}

export class SessionEnded extends ApiError<SessionEnded>()("SessionEnded", {
  status: 409,
  code: "session_ended",
  message: ({ reason }) =>
    reason === "replaced"
      ? "Another agent has started with this worker's token and replaced this one."
      : "The service did not hear from this agent for too long, so other workers took its runs. Start a new session.",
  fields: { reason: Schema.Literals(["replaced", "lost"]) }
}) {}

export class WorkerProtocolApi extends HttpApiGroup.make("protocol")
  .add(
    HttpApiEndpoint.post("hello", "/hello", {
      payload: WorkerHello,
      success: WorkerWelcome,
      error: AgentOutdated
    }).annotateMerge(
      docs(
        "Start a session",
        "Starts the session of an agent. Another agent with this worker's token loses its session and its runs."
      )
    ),

    HttpApiEndpoint.post("beat", "/beat", {
      payload: WorkerBeat,
      success: WorkerOrders,
      error: SessionEnded
    }).annotateMerge(
      docs("Send a heartbeat", "Renews the session and its leases, and returns calls to abort.")
    ),

    HttpApiEndpoint.post("results", "/results", {
      payload: WorkerResults,
      success: WorkerReceipts,
      error: SessionEnded
    }).annotateMerge(
      docs(
        "Submit results",
        "Any node accepts results. A result with an invalid lease is `fenced` and changes nothing."
      )
    )
  )
  .middleware(WorkerAuthentication)
  .prefix("/v1/worker") {}

/**
 * Claims runs. A thousand waiting agents together send a hundred of these requests per second, so
 * the request has no body and bypasses the router.
 */
export class WorkerClaimsApi extends HttpApiGroup.make("claims")
  .add(
    HttpApiEndpoint.post("claim", "/claim", {
      query: WorkerClaim.fields,
      success: ClaimResponse,
      error: SessionEnded
    }).annotateMerge(
      docs(
        "Claim runs",
        "Returns as soon as a run is due for the worker, or without runs after `wait_seconds`. A claim renews the session, like a heartbeat."
      )
    )
  )
  .middleware(WorkerAuthentication)
  .prefix("/v1/worker") {}

/** The endpoints of the protocol that go through the router: all except claims. */
export class RoutedWorkerApi extends HttpApi.make("worker")
  .add(WorkerProtocolApi)
  .middleware(ErrorShape)
  .annotate(HttpApi.PayloadParseOptions, { errors: "all" }) {}

/**
 * The protocol between agents and the service. A separate API that neither the reference nor the
 * SDK includes. The service ignores unknown fields, so that an agent can be newer than the service.
 */
export class WorkerApi extends HttpApi.make("worker")
  .add(WorkerProtocolApi)
  .add(WorkerClaimsApi)
  .middleware(ErrorShape) {}
