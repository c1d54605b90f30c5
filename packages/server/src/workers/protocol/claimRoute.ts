import { NodeHttpServerRequest } from "@effect/platform-node"
import { ValidationFailed } from "@scheduling/domain/shared/Errors"
import { ClaimResponse, WorkerClaim } from "@scheduling/domain/workers/WorkerProtocol"
import { Effect, Result, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { issuesIn, recordRoute, respondWithError } from "../../http/index.ts"
import { Claims } from "./Claims.ts"
import { WorkerAdmission } from "./WorkerAdmission.ts"
import { WorkerTokensRepo } from "./WorkerTokensRepo.ts"

const path = "/v1/worker/claim"

/**
 * Handles claims before the router, because most requests of agents are claims that find nothing.
 * All other requests are passed to `answer`.
 */
export const withClaimRoute = <E, R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) =>
  Effect.gen(function* () {
    const claims = yield* Claims
    const { admit } = yield* WorkerAdmission
    const tokens = yield* WorkerTokensRepo

    const answerClaim = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      recordRoute(NodeHttpServerRequest.toIncomingMessage(request), path)
      const asked = readClaim(request.url)
      const session = Result.isSuccess(asked) ? asked.success.session : 0
      const find =
        Result.isSuccess(asked) && asked.success.idle === true
          ? tokens.findForIdleClaim
          : tokens.findForClaim
      const { has_probes, watching, worker } = yield* admit(request, (hashes) =>
        find({ hashes, session })
      )
      if (Result.isFailure(asked)) {
        return yield* new ValidationFailed({
          issues: issuesIn(asked.failure.issue, { whole: "The query", part: "parameter" })
        })
      }
      const { watching: knows = "" } = asked.success
      const hasNews = has_probes || watching !== knows
      const { beat, calls } = yield* claims.claim(worker, asked.success, hasNews)
      if (calls.length === 0 && !beat) return emptyClaimResponse
      return HttpServerResponse.jsonUnsafe(encode({ calls, ...(beat && { beat }) }))
    }, Effect.catch(respondWithError))

    return Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      (
        request
      ): Effect.Effect<
        HttpServerResponse.HttpServerResponse,
        E,
        R | HttpServerRequest.HttpServerRequest
      > =>
        request.method === "POST" && (request.url === path || request.url.startsWith(`${path}?`))
          ? answerClaim(request)
          : answer
    )
  })

const emptyClaimResponse = HttpServerResponse.jsonUnsafe({ calls: [] })

const encode = Schema.encodeSync(ClaimResponse)

const decode = Schema.decodeUnknownResult(Schema.toCodecStringTree(WorkerClaim))

const readClaim = (url: string) =>
  decode(Object.fromEntries(new URLSearchParams(url.slice(path.length + 1))))
