import StripeClient from "stripe"

/** Prices in cents per month. */
export const pricesInCents: Readonly<Record<string, number>> = {
  price_team: 1_900,
  price_max: 9_900
}

export const monthSeconds = 30 * 86_400

interface Phase {
  readonly price: string
  readonly start: number
  readonly end: number
}

export interface FakeSubscription {
  readonly id: string
  readonly customer: string
  readonly created: number
  status: string
  price: string
  start: number
  end: number
  trialEnd: number | null
  cancelAtEnd: boolean
  schedule: { readonly id: string; phases: ReadonlyArray<Phase> } | null
  failures: number
}

export interface CheckoutSession {
  readonly id: string
  readonly customer: string
  readonly price: string
  readonly trialDays: number
  status: string
}

export interface SentWebhook {
  readonly body: string
  readonly signature: string
}

/**
 * A fake Stripe that implements its API, keeps state, renews subscriptions, retries cards and ends
 * trials. It collects its webhooks, and the test decides when to deliver them.
 */
export class FakeStripe {
  readonly customers: Array<{ readonly id: string; readonly workspace: string }> = []
  readonly sessions: Array<CheckoutSession> = []
  readonly subscriptions: Array<FakeSubscription> = []
  readonly invoices: Array<{
    readonly id: string
    readonly customer: string
    total: number
    status: string
    created: number
  }> = []
  readonly events: Array<object & { readonly id: string }> = []
  readonly requests: Array<string> = []
  #ids = 0
  now: number
  cardFails = false
  hasCard = true
  isAway = false
  readonly secret: string

  constructor(nowMs: number, secret: string) {
    this.now = nowMs / 1_000
    this.secret = secret
  }

  // Simulates what users do on Stripe's pages, and what happens over time.

  pay(sessionId: string): FakeSubscription | undefined {
    const session = this.sessions.find(({ id }) => id === sessionId)
    if (session?.status !== "open") return undefined
    session.status = "complete"
    const trialEnd = session.trialDays === 0 ? null : this.now + session.trialDays * 86_400
    const subscription: FakeSubscription = {
      id: this.newId("sub"),
      customer: session.customer,
      created: this.now,
      status: trialEnd === null ? "active" : "trialing",
      price: session.price,
      start: this.now,
      end: trialEnd ?? this.now + monthSeconds,
      trialEnd,
      cancelAtEnd: false,
      schedule: null,
      failures: 0
    }
    this.subscriptions.push(subscription)
    if (trialEnd === null) this.invoice(subscription, pricesInCents[session.price] ?? 0, "paid")
    this.say("customer.subscription.created", this.shown(subscription))
    this.say("checkout.session.completed", { ...session, object: "checkout.session" })
    return subscription
  }

  /** Changes a subscription without using the service, as on Stripe's own pages. */
  change(one: FakeSubscription): void {
    this.say("customer.subscription.updated", this.shown(one))
  }

  /** Moves the clock day by day. */
  pass(days: number): void {
    for (let day = 0; day < days; day++) {
      this.now += 86_400
      for (const one of this.subscriptions) this.#live(one)
    }
  }

  #live(one: FakeSubscription): void {
    if (one.status === "past_due") return this.#tryAgain(one)
    if ((one.status !== "active" && one.status !== "trialing") || this.now < one.end) return
    if (one.cancelAtEnd) return this.end(one)
    const next = one.schedule?.phases.find(({ start }) => start >= one.end)
    if (next !== undefined) {
      one.price = next.price
      one.schedule = null
    }
    if (one.status === "trialing" && !this.hasCard) {
      one.status = "paused"
      return this.say("customer.subscription.paused", this.shown(one))
    }
    one.trialEnd = null
    one.start = one.end
    one.end = one.start + monthSeconds
    one.status = this.cardFails ? "past_due" : "active"
    this.invoice(one, pricesInCents[one.price] ?? 0, this.cardFails ? "open" : "paid")
    this.say("customer.subscription.updated", this.shown(one))
  }

  /** Retries a failed payment every day for two weeks. */
  #tryAgain(one: FakeSubscription): void {
    one.failures++
    if (!this.cardFails) {
      one.status = "active"
      one.failures = 0
      for (const invoice of this.invoices) {
        if (invoice.customer === one.customer && invoice.status === "open") invoice.status = "paid"
      }
      this.say("invoice.paid", { object: "invoice", customer: one.customer })
    } else if (one.failures > 14) one.status = "unpaid"
    else return
    this.say("customer.subscription.updated", this.shown(one))
  }

  end(one: FakeSubscription): void {
    one.status = "canceled"
    this.say("customer.subscription.deleted", this.shown(one))
  }

  invoice(one: FakeSubscription, total: number, status: string): void {
    const id = this.newId("in")
    this.invoices.unshift({ id, customer: one.customer, total, status, created: this.now })
    const type = status === "paid" ? "invoice.paid" : "invoice.payment_failed"
    this.say(type, { id, object: "invoice", customer: one.customer })
  }

  // The webhooks that the fake Stripe sends.

  say(type: string, about: object): void {
    this.events.push({
      id: this.newId("evt"),
      object: "event",
      type,
      api_version: StripeClient.API_VERSION,
      created: this.now,
      data: { object: structuredClone(about) }
    } as never)
  }

  sign(event: object, atMs = this.now * 1_000, secret = this.secret): SentWebhook {
    const body = JSON.stringify(event)
    const signature = StripeClient.webhooks.generateTestHeaderString({
      payload: body,
      secret,
      timestamp: Math.floor(atMs / 1_000)
    })
    return { body, signature }
  }

  shown(one: FakeSubscription, expanded = false): object {
    const { schedule } = one
    return {
      id: one.id,
      object: "subscription",
      customer: one.customer,
      created: one.created,
      status: one.status,
      cancel_at: one.cancelAtEnd ? one.end : null,
      cancel_at_period_end: one.cancelAtEnd,
      trial_end: one.trialEnd,
      items: {
        object: "list",
        data: [
          {
            id: `si_${one.id}`,
            price: { id: one.price },
            current_period_start: one.start,
            current_period_end: one.end
          }
        ]
      },
      schedule:
        schedule === null
          ? null
          : expanded
            ? {
                id: schedule.id,
                current_phase: { start_date: one.start, end_date: one.end },
                phases: schedule.phases.map(({ end, price, start }) => ({
                  start_date: start,
                  end_date: end,
                  items: [{ price }]
                }))
              }
            : schedule.id
    }
  }

  newId(prefix: string): string {
    return `${prefix}_${++this.#ids}`
  }
}
