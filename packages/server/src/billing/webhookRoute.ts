import { BillingDisabled } from "@scheduling/domain/billing/BillingErrors"
import { InvalidSignature } from "@scheduling/domain/shared/Errors"
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { respondWithError } from "../http/index.ts"
import { PaymentProvider } from "./PaymentProvider.ts"
import { SubscriptionSync } from "./SubscriptionSync.ts"

/**
 * Receives the payment provider's webhooks. The signature covers the raw body, so this route is not
 * part of the contract, which would parse the body. A webhook is stored before the route responds
 * with 200. The provider retries rejected webhooks for three days.
 */
export const webhookRouteLayer: Layer.Layer<
  never,
  never,
  HttpRouter.HttpRouter | PaymentProvider | SubscriptionSync
> = Layer.unwrap(
  Effect.gen(function* () {
    const { stripe } = yield* PaymentProvider
    const sync = yield* SubscriptionSync
    return HttpRouter.add(
      "POST",
      "/v1/billing/webhooks/stripe",
      Effect.gen(function* () {
        if (stripe === null) return yield* respondWithError(new BillingDisabled())
        const request = yield* HttpServerRequest.HttpServerRequest
        const signature = request.headers["stripe-signature"] ?? ""
        const body = yield* Effect.orDie(request.text)
        const hint = stripe.readHint(body, signature, yield* Clock.currentTimeMillis)
        if (hint === undefined) return yield* respondWithError(new InvalidSignature())
        yield* sync.noteHint(hint)
        sync.waker.wake()
        return HttpServerResponse.jsonUnsafe({ received: true })
      })
    )
  })
)
