import { Context, Effect, Layer } from "effect"
import type { IncidentRow } from "./IncidentsRepo.ts"

export interface IncidentSubscriber {
  /**
   * Somebody has acknowledged or closed the incident, so no message about its problem may be sent
   * any more. Runs in the transaction of the change, which also holds the router's turn.
   */
  readonly silenced: (incident: IncidentRow, now: Date) => Effect.Effect<void>
  /** Reminders of the incident wait until a time. With null they continue as before. */
  readonly snoozed: (incident: IncidentRow, until: Date | null, now: Date) => Effect.Effect<void>
}

/** Announces what people do about incidents to the subscribed modules. */
export class IncidentSubscribers extends Context.Service<
  IncidentSubscribers,
  IncidentSubscriber & {
    readonly subscribe: (subscriber: IncidentSubscriber) => Effect.Effect<void>
  }
>()("@scheduling/server/incidents/IncidentSubscribers") {
  static readonly layer: Layer.Layer<IncidentSubscribers> = Layer.sync(IncidentSubscribers, () => {
    const subscribers: Array<IncidentSubscriber> = []
    return IncidentSubscribers.of({
      subscribe: (subscriber) => Effect.sync(() => void subscribers.push(subscriber)),
      silenced: (incident, now) =>
        Effect.forEach(subscribers, (one) => one.silenced(incident, now), { discard: true }),
      snoozed: (incident, until, now) =>
        Effect.forEach(subscribers, (one) => one.snoozed(incident, until, now), { discard: true })
    })
  })
}
