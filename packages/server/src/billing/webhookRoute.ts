import { BillingDisabled, InvalidSignature } from "@scheduling/domain/billing/BillingErrors"
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { respond } from "../http/index.ts"
import { Provider } from "./Provider.ts"
import { SubscriptionSync } from "./SubscriptionSync.ts"

/**
 * Receives webhooks from the payment provider. The signature covers the raw body, so this route is
 * not part of the contract, which would parse the body. A webhook is stored before the response
 * 200. The provider retries rejected webhooks for three days.
 */
export const webhookRouteLayer: Layer.Layer<
  never,
  never,
  HttpRouter.HttpRouter | Provider | SubscriptionSync
> = Layer.unwrap(
  Effect.gen(function* () {
    const { open } = yield* Provider
    const sync = yield* SubscriptionSync
    return HttpRouter.add(
      "POST",
      "/v1/billing/webhooks/stripe",
      Effect.gen(function* () {
        if (open === null) return yield* respond(new BillingDisabled())
        const request = yield* HttpServerRequest.HttpServerRequest
        const signature = request.headers["stripe-signature"] ?? ""
        const body = yield* Effect.orDie(request.text)
        const hint = open.readHint(body, signature, yield* Clock.currentTimeMillis)
        if (hint === undefined) return yield* respond(new InvalidSignature())
        yield* sync.noteHint(hint)
        sync.waker.wake()
        return HttpServerResponse.jsonUnsafe({ received: true })
      })
    )
  })
)
