import { Context, Effect, Layer } from "effect"
import type { IncidentRow } from "./IncidentsRepo.ts"

export interface IncidentSubscriber {
  /**
   * Called when a person has acknowledged or closed the incident, so that no further message is
   * sent about its problem. Runs in the transaction of the change, which also keeps the router from
   * routing the workspace's events.
   */
  readonly silenced: (incident: IncidentRow, now: Date) => Effect.Effect<void>
  /**
   * Called when the incident's reminders are postponed until `until`. If `until` is null, they
   * continue as before.
   */
  readonly snoozed: (incident: IncidentRow, until: Date | null, now: Date) => Effect.Effect<void>
}

/** Notifies other modules when people act on incidents. */
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
