import {
  type DefinedKind,
  type DefinitionsDocument,
  type DocumentSection,
  sections
} from "@scheduling/domain/definitions/DefinitionsDocument"
import type { DependencyInput } from "@scheduling/domain/incidents/Dependency"
import type { MonitorKind } from "@scheduling/domain/monitors/Monitor"
import { parseCallUrl } from "@scheduling/domain/calls/CallUrl"
import { formatInterval } from "@scheduling/schedules/Interval"
import { Result } from "effect"
import { sortByDependencies } from "../core/index.ts"
import type { ScheduledDefinition } from "./lintSchedules.ts"
import type { DefinitionFields } from "./definitionOf.ts"

/** One record that a document defines. */
export interface DocumentItem {
  readonly section: DocumentSection
  readonly kind: DefinedKind
  /** The record's key. Null for the settings. */
  readonly key: string | null
  /** The definition's path in the document. */
  readonly path: ReadonlyArray<string | number>
  readonly definition: DefinitionFields
}

const kindOfSection = {
  queues: "queue",
  channels: "notification_channel",
  tasks: "cron",
  delayed: "delayed",
  chains: "chain",
  escalations: "escalation_policy",
  maintenance: "maintenance_window",
  status_pages: "status_page"
} as const

/** Returns a document's records, each after the records that it references. */
export const itemsInDocument = (document: DefinitionsDocument): ReadonlyArray<DocumentItem> => {
  const items = sections.flatMap((section) =>
    (document[section] ?? []).map(({ key, ...fields }, index): DocumentItem => {
      const path = [section, index]
      if (section !== "monitors") {
        return { section, kind: kindOfSection[section], key, path, definition: fields }
      }
      const { kind, ...definition } = fields as DefinitionFields & { readonly kind: MonitorKind }
      return { section, kind, key, path, definition }
    })
  )
  const { notification_settings: settings } = document
  const section = "notification_settings"
  const ordered = afterDependencies(items)
  return settings === undefined
    ? ordered
    : [...ordered, { section, kind: section, key: null, path: [section], definition: settings }]
}

/**
 * Sorts the records so that each comes after the records on which it depends. Circular dependencies
 * are rejected later.
 */
const afterDependencies = (items: ReadonlyArray<DocumentItem>): ReadonlyArray<DocumentItem> => {
  const byKey = new Map(items.map((item) => [`${item.kind} ${item.key}`, item]))
  return sortByDependencies(items, ({ definition }) => {
    const dependsOn = (definition["depends_on"] ?? []) as ReadonlyArray<DependencyInput>
    return dependsOn.flatMap(({ key, kind }) => byKey.get(`${kind} ${key}`) ?? [])
  })
}

interface Scheduled {
  readonly schedule?: string | null
  readonly every?: string | null
  readonly anchor?: string | null
  readonly timezone?: string
  readonly dst_overlap?: "first" | "both"
  readonly starts_at?: string | null
  readonly ends_at?: string | null
  readonly excluded_days?: ReadonlyArray<string> | null
  readonly jitter_seconds?: number | null
  readonly queue_id?: string | null
  readonly queue_key?: string | null
  readonly flow?: object | null
  readonly paused?: boolean
  readonly url?: string
  readonly steps?: ReadonlyArray<{ readonly url?: string }>
}

/** Returns a document's schedules, except those of paused tasks. */
export const schedulesIn = (
  items: ReadonlyArray<DocumentItem>
): ReadonlyArray<ScheduledDefinition> =>
  items.flatMap(({ definition, kind, path }) => {
    const given = definition as Scheduled
    const { anchor = null, dst_overlap, ends_at, every, excluded_days, paused, starts_at } = given
    const schedule = every == null ? given.schedule : formatInterval({ every, anchor })
    if ((kind !== "cron" && kind !== "chain") || schedule == null || paused === true) return []
    const url = parseCallUrl(given.url ?? given.steps?.[0]?.url ?? "")
    const scheduled: ScheduledDefinition = {
      path,
      schedule,
      timezone: given.timezone ?? "UTC",
      host: Result.isSuccess(url) ? url.success.host : "",
      isPunctual:
        (given.jitter_seconds ?? 0) === 0 &&
        given.queue_id == null &&
        given.queue_key == null &&
        given.flow == null,
      ...(dst_overlap !== undefined && { dst_overlap }),
      ...(starts_at != null && { starts_at }),
      ...(ends_at != null && { ends_at }),
      ...(excluded_days != null && { excluded_days })
    }
    return scheduled
  })
