import {
  CurrentWorker,
  WorkerAuthentication
} from "@scheduling/domain/workers/WorkerAuthentication"
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { WorkerAdmission } from "./WorkerAdmission.ts"
import { WorkerTokensRepo } from "./WorkerTokensRepo.ts"

/** Finds out whose token it is, before the body is read. */
export const WorkerAuthenticationLayer: Layer.Layer<
  WorkerAuthentication,
  never,
  WorkerAdmission | WorkerTokensRepo
> = Layer.effect(
  WorkerAuthentication,
  Effect.gen(function* () {
    const { admit } = yield* WorkerAdmission
    const { findByHash, findByHashForBeat } = yield* WorkerTokensRepo
    const authenticate = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.map(
        admit(request, request.url.endsWith("/beat") ? findByHashForBeat : findByHash),
        ({ worker }) => worker
      )
    )
    return WorkerAuthentication.of((answer) =>
      Effect.provideServiceEffect(answer, CurrentWorker, authenticate)
    )
  })
)
