import { callbacks } from "@scheduling/domain/calls/Callbacks"
import { callOptions } from "@scheduling/domain/calls/CallOptions"
import { chainDefaults } from "@scheduling/domain/chains/Chain"
import { chainStepDefaults } from "@scheduling/domain/chains/ChainStep"
import { firingOptions } from "@scheduling/domain/cron/FiringOptions"
import { cronTaskDefaults } from "@scheduling/domain/cron/CronTask"
import {
  type DefinedKind,
  definitionOfKind
} from "@scheduling/domain/definitions/DefinitionsDocument"
import { delayedTaskDefaults } from "@scheduling/domain/delayed/DelayedTask"
import { heartbeatDefaults } from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
import { httpDefaults, httpTargetDefaults } from "@scheduling/domain/monitors/http/HttpMonitor"
import { dnsDefaults, dnsTargetDefaults } from "@scheduling/domain/monitors/dns/DnsMonitor"
import { tcpDefaults, tcpTargetDefaults } from "@scheduling/domain/monitors/tcp/TcpMonitor"
import { processDefaults } from "@scheduling/domain/monitors/process/ProcessMonitor"
import { sslDefaults } from "@scheduling/domain/monitors/ssl/SslMonitor"
import {
  escalationDefaults,
  escalationStepDefaults
} from "@scheduling/domain/escalations/EscalationPolicy"
import { maintenanceDefaults } from "@scheduling/domain/maintenance/MaintenanceWindow"
import { notificationSettingsDefaults } from "@scheduling/domain/notifications/NotificationSettings"
import { queueDefaults } from "@scheduling/domain/queues/Queue"
import { statusGroupDefaults, statusPageDefaults } from "@scheduling/domain/status-pages/StatusPage"
import { ignoredField } from "@scheduling/domain/shared/requests/putBody"
import { Option, Schema, Struct } from "effect"
import { isDeepStrictEqual } from "node:util"

export type DefinitionFields = Readonly<Record<string, unknown>>

/** Picks the fields of a record's response that make up its definition. */
export const definitionOf = (kind: DefinedKind, shown: object): DefinitionFields => {
  const given = Object.fromEntries(
    Object.entries(shown).filter(([name]) => fieldsByKind[kind].has(name))
  )
  return Option.getOrElse(decoders[kind](given), () => given)
}

/**
 * Returns the definition with keys instead of ids, and without fields that have their default
 * value.
 */
export const shortDefinitionOf = (kind: DefinedKind, shown: object): DefinitionFields => {
  const { depends_on, groups, queue_id, rules, steps, ...definition } = definitionOf(kind, shown)
  return withoutDefaults(
    { paused: false, tags: [], depends_on: [], ...defaultsOf[kind] },
    {
      ...byKeys(definition),
      ...(definition["queue_key"] == null && { queue_id }),
      ...(depends_on !== undefined && { depends_on: shortenItems(depends_on, dependencyByKey) }),
      ...(steps !== undefined && {
        steps: shortenItems(steps, (step) => withoutDefaults(defaultsOfStep, byKeys(step)))
      }),
      ...(rules !== undefined && {
        rules: shortenItems(rules, (rule) => withoutDefaults({ channel_keys: [] }, byKeys(rule)))
      }),
      ...(groups !== undefined && {
        groups: shortenItems(groups, (group) => withoutDefaults(statusGroupDefaults, byKeys(group)))
      })
    }
  )
}

const withoutDefaults = (defaults: DefinitionFields, fields: DefinitionFields): DefinitionFields =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== undefined && !isDeepStrictEqual(value, defaults[name] ?? null)
    )
  )

const shortenItems = (list: unknown, shorten: (item: DefinitionFields) => DefinitionFields) =>
  (list as ReadonlyArray<DefinitionFields>).map(shorten)

const dependencyByKey = ({ id, key, kind }: DefinitionFields): DefinitionFields =>
  key == null ? { kind, id } : { kind, key }

/**
 * Keeps either the ids or the keys of each list of references. Ids are kept only if some of the
 * referenced records have no key.
 */
const byKeys = (fields: DefinitionFields): DefinitionFields => {
  const unnamed = references.flatMap(([ids, keys]) => {
    const countOf = (name: string) => ((fields[name] ?? []) as ReadonlyArray<string>).length
    return countOf(ids) === countOf(keys) ? ids : keys
  })
  return Struct.omit(fields, [
    ...unnamed,
    ...(fields["escalation_key"] == null ? ["escalation_key"] : ["escalation_id"])
  ])
}

const references = [
  ["channel_ids", "channel_keys"],
  ["task_ids", "task_keys"],
  ["monitor_ids", "monitor_keys"]
] as const

const mapKinds = <A>(make: (kind: DefinedKind) => A) =>
  Object.fromEntries(
    Object.keys(definitionOfKind).map((kind) => [kind, make(kind as DefinedKind)])
  ) as Readonly<Record<DefinedKind, A>>

const fieldsByKind = mapKinds((kind) => {
  const fields: Readonly<Record<string, unknown>> = definitionOfKind[kind].fields
  return new Set(
    Object.keys(fields).filter((name) => name !== "version" && fields[name] !== ignoredField)
  )
})

const decoders = mapKinds((kind) =>
  Schema.decodeUnknownOption(definitionOfKind[kind] as Schema.Codec<DefinitionFields, unknown>)
)

const { unset: unsetInCall } = callOptions
const defaultsOfStep: DefinitionFields = {
  ...chainStepDefaults.call,
  ...unsetInCall,
  ...escalationStepDefaults
}

/**
 * The default values of each kind's fields, which are not exported. A kind that is not listed
 * exports all its fields.
 */
const defaultsOf: Partial<Readonly<Record<DefinedKind, DefinitionFields>>> = {
  queue: queueDefaults,
  cron: { ...cronTaskDefaults, ...unsetInCall, ...firingOptions.unset, ...callbacks.unset },
  delayed: { ...delayedTaskDefaults, ...unsetInCall, ...callbacks.unset },
  chain: { ...chainDefaults, ...firingOptions.unset, ...callbacks.unset },
  heartbeat: heartbeatDefaults,
  ssl: sslDefaults,
  process: processDefaults,
  http: { ...httpDefaults, ...httpTargetDefaults },
  tcp: { ...tcpDefaults, ...tcpTargetDefaults },
  dns: { ...dnsDefaults, ...dnsTargetDefaults },
  escalation_policy: escalationDefaults,
  maintenance_window: maintenanceDefaults,
  status_page: statusPageDefaults,
  notification_settings: notificationSettingsDefaults
}
