import {
  CurrentWorker,
  WorkerAuthentication
} from "@scheduling/domain/workers/WorkerAuthentication"
import { Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import { recheckAccessAfterBody } from "../../http/index.ts"
import { WorkerAdmission } from "./WorkerAdmission.ts"
import { WorkerTokensRepo } from "./WorkerTokensRepo.ts"

/** Checks the token before the body is read, and again if the body arrives late. */
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
            recheckAccessAfterBody(request, answer, () => Effect.asVoid(check(request, find))),
            CurrentWorker,
            worker
          )
        )
      })
    )
  })
)
