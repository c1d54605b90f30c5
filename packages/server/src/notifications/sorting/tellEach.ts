import {
  isRecovery,
  type NotificationEvent
} from "@scheduling/domain/notifications/NotificationEvent"
import type { NotificationSettings } from "@scheduling/domain/notifications/NotificationSettings"
import type { Telling } from "./decide.ts"
import type { Receiver, Told } from "./gather.ts"
import type { ToldEvent } from "../Message.ts"
import { quietUntil } from "../settings/quietHours.ts"
import type { OutboxRow } from "./OutboxRow.ts"
import type { TellingRow } from "./SorterRepo.ts"

/** Something to be told, before it is known which of the channels are there. */
export interface Judged {
  readonly row: OutboxRow
  readonly event: ToldEvent
  readonly telling: Telling
  readonly channelIds: ReadonlySet<string>
  readonly settings: NotificationSettings
  /** The subject was deleted or paused. No recovery is announced, and open incidents are closed. */
  readonly isGone: boolean
}

export const isForAll = (event: NotificationEvent) => event === "channel.disabled"

/** Such an end goes to every channel that heard of the beginning, whatever the rules say. */
export const whereTold = (judged: Judged, tellings: ReadonlyArray<TellingRow>): Judged => ({
  ...judged,
  channelIds: new Set(
    tellings.flatMap(({ channel_id, subject_id }) =>
      subject_id === judged.row.subject_id ? [channel_id] : []
    )
  )
})

/** Each event with each channel that is told of it. An end goes where the beginning went. */
export const tellEach = (
  judged: ReadonlyArray<Judged>,
  receivers: ReadonlyArray<Receiver>,
  tellings: ReadonlyArray<TellingRow>,
  now: Date
): ReadonlyArray<Told> => {
  const byWorkspace = Map.groupBy(receivers, ({ workspace_id }) => workspace_id)
  const keyOf = (channelId: string, subjectId: string) => `${channelId} ${subjectId}`
  const known = new Map(tellings.map((row) => [keyOf(row.channel_id, row.subject_id), row]))
  const begun = new Set<string>()
  const left = new Map<string, number>()

  return judged.flatMap(({ channelIds, event, isGone, row, settings, telling }) =>
    (byWorkspace.get(row.workspace_id) ?? []).flatMap((receiver): ReadonlyArray<Told> => {
      const isNamed = isForAll(row.event)
        ? receiver.id !== row.subject_id
        : channelIds.has(receiver.id)
      if (!isNamed || (isGone && !receiver.keeps_incidents)) return []
      const key = keyOf(receiver.id, row.subject_id)
      const told = known.get(key)
      if (telling === "begun") begun.add(key)
      // What began in this very batch is known by nothing else yet.
      if (isRecovery(row.event) && told === undefined && !begun.has(key)) return []
      if (telling === "reminder" && (told === undefined || receiver.keeps_incidents)) return []
      const incident_key = told?.incident_key ?? row.subject_id
      if (receiver.keeps_incidents && telling === "ended" && incident_key !== row.subject_id) {
        // An incident of many is over with the last of them.
        const incident = `${receiver.id} ${incident_key}`
        const rest = (left.get(incident) ?? told?.companions ?? 1) - 1
        left.set(incident, rest)
        if (rest > 0) return []
      }
      const quiet = quietUntil(settings.quiet_hours, now)
      return [
        {
          receiver,
          event,
          telling,
          incident_key: telling === "ended" ? incident_key : undefined,
          incident_id: row.data.incident_id,
          due_at: quiet ?? now,
          groups: settings.group_seconds > 0 || quiet !== undefined
        }
      ]
    })
  )
}
