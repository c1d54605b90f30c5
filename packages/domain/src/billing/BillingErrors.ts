import { ApiError, retryAfterSeconds } from "../shared/Errors.ts"

export class BillingDisabled extends ApiError<BillingDisabled>()("BillingDisabled", {
  status: 409,
  code: "billing_disabled",
  message: "Billing is off on this server. The operator can turn it on with STRIPE_SECRET_KEY."
}) {}

export class PaymentFailed extends ApiError<PaymentFailed>()("PaymentFailed", {
  status: 402,
  code: "payment_failed",
  message: "The payment failed, so nothing was changed. Check the payment method and try again."
}) {}

export class BillingUnavailable extends ApiError<BillingUnavailable>()("BillingUnavailable", {
  status: 503,
  code: "billing_unavailable",
  message: "The payment provider is not available. Try again in a moment.",
  fields: { retry_after: retryAfterSeconds },
  headers: ({ retry_after }) => ({ "retry-after": String(retry_after) })
}) {}
