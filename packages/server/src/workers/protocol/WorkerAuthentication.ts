import {
  CurrentWorker,
  WorkerAuthentication
} from "@scheduling/domain/workers/WorkerAuthentication"
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { decidedAgainIfLate } from "../../http/index.ts"
import { WorkerAdmission } from "./WorkerAdmission.ts"
import { WorkerTokensRepo } from "./WorkerTokensRepo.ts"

/** Finds out whose token it is, before the body is read, and again after one that comes late. */
export const WorkerAuthenticationLayer: Layer.Layer<
  WorkerAuthentication,
  never,
  WorkerAdmission | WorkerTokensRepo
> = Layer.effect(
  WorkerAuthentication,
  Effect.gen(function* () {
    const { admit, check } = yield* WorkerAdmission
    const { findByHash, findByHashForBeat } = yield* WorkerTokensRepo
    return WorkerAuthentication.of((answer) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
        const find = request.url.endsWith("/beat") ? findByHashForBeat : findByHash
        return Effect.flatMap(admit(request, find), ({ worker }) =>
          Effect.provideService(
            decidedAgainIfLate(request, answer, () => Effect.asVoid(check(request, find))),
            CurrentWorker,
            worker
          )
        )
      })
    )
  })
)
