import { NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Effect } from "effect"
import { HttpMethod, HttpServerRequest } from "effect/http"
import { withText } from "../../core/index.ts"
import { isShortBody } from "./RequestBody.ts"

/**
 * Checks access again if the body arrives late. Access is first checked when the headers arrive,
 * but a client may take half a minute to send the body. If the body was incomplete at the first
 * check, `decide` runs again after the body was read and before it is used. Otherwise a member who
 * was removed in the meantime could still create an API key. A short body that arrived with the
 * headers needs no second check. A long body may wait for its turn to be read, so it always counts
 * as late.
 */
export const recheckAccessAfterBody = <A, E, R, Refusal>(
  request: HttpServerRequest.HttpServerRequest,
  answer: Effect.Effect<A, E, R>,
  decide: () => Effect.Effect<void, Refusal>
): Effect.Effect<A, E | Refusal, R> => {
  if (!HttpMethod.hasBody(request.method)) return answer
  if (NodeHttpServerRequest.toIncomingMessage(request).complete && isShortBody(request))
    return answer
  const decideAgain = () =>
    Effect.catch(decide(), (refusal) => Effect.die(new LateRejection(refusal)))
  const late = withText(request, Effect.tap(request.text, decideAgain))
  return Effect.provideService(answer, HttpServerRequest.HttpServerRequest, late).pipe(
    Effect.catchCause((cause): Effect.Effect<A, E | Refusal> => {
      const error = Cause.squash(cause)
      return error instanceof LateRejection
        ? Effect.fail(error.refusal as Refusal)
        : Effect.failCause(cause)
    })
  )
}

/** Carries the rejection through the framework, where reading a request's text cannot fail. */
class LateRejection {
  readonly refusal: unknown

  constructor(refusal: unknown) {
    this.refusal = refusal
  }
}
