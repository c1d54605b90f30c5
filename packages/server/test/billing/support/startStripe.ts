import { Effect } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import {
  FakeStripe,
  type FakeSubscription,
  monthSeconds,
  pricesInCents,
  type CheckoutSession
} from "./FakeStripe.ts"
import { type FormFields, nestedFields, parseForm, textField } from "./form.ts"

/** The fake Stripe's responses to the official client. */
class Wire {
  readonly #stripe: FakeStripe
  readonly #answers = new Map<string, Answer>()

  constructor(stripe: FakeStripe) {
    this.#stripe = stripe
  }

  answer(method: string, path: string, query: FormFields, form: FormFields): Answer {
    const [, , resource = "", id = "", action = ""] = path.split("/")
    const one = this.#stripe.subscriptions.find((candidate) => candidate.id === id)
    switch (`${method} ${resource}${id === "" ? "" : "/id"}${action === "" ? "" : `/${action}`}`) {
      case "POST customers": {
        const customer = {
          id: this.#stripe.newId("cus"),
          workspace: textField(nestedFields(form, "metadata"), "workspace_id") ?? ""
        }
        this.#stripe.customers.push(customer)
        return ok({ ...customer, object: "customer" })
      }
      case "GET subscriptions":
        return ok({
          object: "list",
          has_more: false,
          data: this.#stripe.subscriptions
            .filter(
              ({ customer, status }) =>
                customer === query["customer"] &&
                (query["status"] === "all" || status !== "canceled")
            )
            .toReversed()
            .map((each) => this.#stripe.shown(each, true))
        })
      case "GET invoices":
        return ok({
          object: "list",
          has_more: false,
          data: this.#stripe.invoices
            .filter(({ customer }) => customer === query["customer"])
            .map((each) => ({
              ...each,
              object: "invoice",
              number: each.id,
              currency: "eur",
              hosted_invoice_url: `https://invoice.test/${each.id}`
            }))
        })
      case "POST billing_portal/id":
        return ok({
          id: this.#stripe.newId("bps"),
          url: `https://portal.test/${textField(form, "customer")}`
        })
      case "POST checkout/id":
        return this.#newSession(form)
      case "GET checkout/id/cs":
      case "POST checkout/id/cs":
        return this.#session(method, path)
      case "POST subscriptions/id":
        return one === undefined ? missing : this.#update(one, form)
      case "POST subscriptions/id/resume":
        return one === undefined ? missing : this.#resume(one)
      case "DELETE subscriptions/id":
        if (one === undefined) return missing
        this.#stripe.end(one)
        return ok(this.#stripe.shown(one))
      case "POST subscription_schedules":
      case "POST subscription_schedules/id":
      case "POST subscription_schedules/id/release":
        return this.#schedule(id, action, form)
      default:
        return refuse(404, "invalid_request_error", `no such route: ${method} ${path}`)
    }
  }

  #newSession(form: FormFields): Answer {
    const line = nestedFields(nestedFields(form, "line_items"), "0")
    const session: CheckoutSession = {
      id: this.#stripe.newId("cs"),
      customer: textField(form, "customer") ?? "",
      price: textField(line, "price") ?? "",
      trialDays: Number(
        textField(nestedFields(form, "subscription_data"), "trial_period_days") ?? 0
      ),
      status: "open"
    }
    if (pricesInCents[session.price] === undefined)
      return refuse(400, "invalid_request_error", "No such price")
    this.#stripe.sessions.push(session)
    return ok({
      ...session,
      object: "checkout.session",
      url: `https://checkout.test/${session.id}`
    })
  }

  #session(method: string, path: string): Answer {
    const [id = "", action = ""] = path.split("/").slice(5)
    const session = this.#stripe.sessions.find((candidate) => candidate.id === id)
    if (session === undefined) return missing
    if (method === "POST" && action === "expire") {
      if (session.status !== "open") return refuse(400, "invalid_request_error", "not open")
      session.status = "expired"
    }
    return ok({ ...session, object: "checkout.session" })
  }

  #update(one: FakeSubscription, form: FormFields): Answer {
    if (one.status === "canceled") return refuse(400, "invalid_request_error", "It is canceled")
    if (one.schedule !== null) {
      return refuse(400, "invalid_request_error", "The subscription is managed by a schedule")
    }
    const price = textField(nestedFields(nestedFields(form, "items"), "0"), "price")
    if (price !== undefined) {
      if (this.#stripe.cardFails && one.status === "active")
        return refuse(402, "card_error", "Declined")
      const difference = (pricesInCents[price] ?? 0) - (pricesInCents[one.price] ?? 0)
      one.price = price
      if (one.status === "active") this.#stripe.invoice(one, difference, "paid")
    }
    const cancel = textField(form, "cancel_at_period_end")
    if (cancel !== undefined) one.cancelAtEnd = cancel === "true"
    this.#stripe.say("customer.subscription.updated", this.#stripe.shown(one))
    return ok(this.#stripe.shown(one))
  }

  #resume(one: FakeSubscription): Answer {
    if (one.status !== "paused") return refuse(400, "invalid_request_error", "It is not paused")
    if (!this.#stripe.hasCard || this.#stripe.cardFails)
      return refuse(402, "card_error", "Declined")
    one.status = "active"
    one.start = this.#stripe.now
    one.end = this.#stripe.now + monthSeconds
    this.#stripe.invoice(one, pricesInCents[one.price] ?? 0, "paid")
    this.#stripe.say("customer.subscription.resumed", this.#stripe.shown(one))
    return ok(this.#stripe.shown(one))
  }

  #schedule(id: string, action: string, form: FormFields): Answer {
    const from = textField(form, "from_subscription")
    const one = this.#stripe.subscriptions.find((each) =>
      from === undefined ? each.schedule?.id === id : each.id === from
    )
    if (one === undefined) return missing
    if (from !== undefined) {
      if (one.schedule !== null) return refuse(400, "invalid_request_error", "It has a schedule")
      one.schedule = {
        id: this.#stripe.newId("sub_sched"),
        phases: [{ price: one.price, start: one.start, end: one.end }]
      }
    } else if (action === "release") one.schedule = null
    else if (one.schedule !== null) {
      one.schedule.phases = Object.values(nestedFields(form, "phases")).map((phase) => {
        const fields = phase as FormFields
        const start = Number(textField(fields, "start_date"))
        return {
          price: textField(nestedFields(nestedFields(fields, "items"), "0"), "price") ?? "",
          start,
          end: Number(textField(fields, "end_date") ?? start + monthSeconds)
        }
      })
    }
    this.#stripe.say("customer.subscription.updated", this.#stripe.shown(one))
    return ok({ id: one.schedule?.id ?? id, object: "subscription_schedule" })
  }

  /** Returns the first response again if a request repeats its idempotency key. */
  once(key: string | undefined, answer: () => Answer): Answer {
    const before = key === undefined ? undefined : this.#answers.get(key)
    if (before !== undefined) return before
    const made = answer()
    if (key !== undefined && made.status < 500) this.#answers.set(key, made)
    return made
  }
}

interface Answer {
  readonly status: number
  readonly body: object
}

const ok = (body: object): Answer => ({ status: 200, body })
const refuse = (status: number, type: string, message: string): Answer => ({
  status,
  body: { error: { type, message } }
})
const missing = refuse(404, "invalid_request_error", "There is no such thing")

const bodyOf = async (request: IncomingMessage) => Buffer.concat(await request.toArray()).toString()

/** Starts the fake Stripe on a socket. The scope closes it. */
export const startStripe = (nowMs: number, secret: string) =>
  Effect.acquireRelease(
    Effect.callback<{
      readonly stripe: FakeStripe
      readonly port: number
      readonly close: () => void
    }>((resume) => {
      const stripe = new FakeStripe(nowMs, secret)
      const wire = new Wire(stripe)
      const server = createServer(async (request, response) => {
        const url = new URL(request.url ?? "/", "http://localhost")
        const path = url.pathname.replace("/checkout/sessions/", "/checkout/sessions/cs/")
        const form = parseForm(await bodyOf(request))
        stripe.requests.push(`${request.method} ${url.pathname}`)
        const { body, status } = stripe.isAway
          ? refuse(500, "api_error", "It is away")
          : wire.once(request.headers["idempotency-key"]?.toString(), () =>
              wire.answer(request.method ?? "", path, parseForm(url.search.slice(1)), form)
            )
        response.writeHead(status, {
          "content-type": "application/json",
          "stripe-should-retry": "false"
        })
        response.end(JSON.stringify(body))
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(
          Effect.succeed({
            stripe,
            port,
            close: () => {
              server.close()
              server.closeAllConnections()
            }
          })
        )
      })
    }),
    ({ close }) => Effect.sync(close)
  )
