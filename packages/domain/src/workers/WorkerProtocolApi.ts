import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { docs } from "../shared/docs.ts"
import { ApiError } from "../shared/Errors.ts"
import { ErrorShape } from "../shared/ErrorShape.ts"
import { WorkerAuthentication } from "./WorkerAuthentication.ts"
import {
  WorkerBeat,
  WorkerCalls,
  WorkerClaim,
  WorkerHello,
  WorkerOrders,
  workerProtocol,
  WorkerReceipts,
  WorkerResults,
  WorkerWelcome
} from "./WorkerProtocol.ts"

export class AgentOutdated extends ApiError<AgentOutdated>()("AgentOutdated", {
  status: 409,
  code: "agent_outdated",
  message: `The service speaks version ${workerProtocol} of the worker protocol, and this agent another one. Install the version of the agent that belongs to the service.`
}) {}

export class SessionEnded extends ApiError<SessionEnded>()("SessionEnded", {
  status: 409,
  code: "session_ended",
  message: ({ reason }) =>
    reason === "replaced"
      ? "Another agent has started with the token of this worker and replaced this one."
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
        "Begin",
        "Begins the session of an agent. One that runs already with the token of this worker loses its place and its runs."
      )
    ),

    HttpApiEndpoint.post("beat", "/beat", {
      payload: WorkerBeat,
      success: WorkerOrders,
      error: SessionEnded
    }).annotateMerge(docs("Beat", "Keeps the session and its leases, and asks what to cut off.")),

    HttpApiEndpoint.post("results", "/results", {
      payload: WorkerResults,
      success: WorkerReceipts,
      error: SessionEnded
    }).annotateMerge(
      docs(
        "Hand in results",
        "Any node takes them. A result whose lease is gone is `fenced` and changes nothing."
      )
    )
  )
  .middleware(WorkerAuthentication)
  .prefix("/v1/worker") {}

/**
 * A thousand agents that wait make a hundred of these requests per second. So it has no body, and
 * the service answers it before its router.
 */
export class WorkerClaimsApi extends HttpApiGroup.make("claims")
  .add(
    HttpApiEndpoint.post("claim", "/claim", {
      query: WorkerClaim.fields,
      success: WorkerCalls,
      error: SessionEnded
    }).annotateMerge(
      docs(
        "Take runs",
        "Answers as soon as there is a run for the worker, or with none when the time is up. Asking keeps the session, as a beat does."
      )
    )
  )
  .middleware(WorkerAuthentication)
  .prefix("/v1/worker") {}

/** What the service's router answers. */
export class RoutedWorkerApi extends HttpApi.make("worker")
  .add(WorkerProtocolApi)
  .middleware(ErrorShape)
  .annotate(HttpApi.PayloadParseOptions, { errors: "all" }) {}

/**
 * What agents and the service say to each other. It is an API of its own, because nobody else needs
 * it: neither the reference nor the SDK shows it. Fields that the service does not know are ignored,
 * so that an agent may be newer.
 */
export class WorkerApi extends HttpApi.make("worker")
  .add(WorkerProtocolApi)
  .add(WorkerClaimsApi)
  .middleware(ErrorShape) {}
