import { callbacks } from "@scheduling/domain/calls/Callbacks"
import { callOptions } from "@scheduling/domain/calls/CallOptions"
import { chainDefaults, chainStepDefaults } from "@scheduling/domain/chains/Chain"
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
import { settingsDefaults } from "@scheduling/domain/notifications/NotificationSettings"
import { queueDefaults } from "@scheduling/domain/queues/Queue"
import { ignored } from "@scheduling/domain/shared/requests/putBody"
import { Option, Schema, Struct } from "effect"
import { isDeepStrictEqual } from "node:util"

export type DefinitionFields = Readonly<Record<string, unknown>>

/** Selects the fields of a record's response that make up its definition. */
export const definitionOf = (kind: DefinedKind, shown: object): DefinitionFields => {
  const given = Object.fromEntries(
    Object.entries(shown).filter(([name]) => fieldsOf[kind].has(name))
  )
  return Option.getOrElse(decoders[kind](given), () => given)
}

/** Returns the definition without fields that have their default, and with keys instead of ids. */
export const shortDefinitionOf = (kind: DefinedKind, shown: object): DefinitionFields => {
  const { queue_id, rules, steps, ...definition } = definitionOf(kind, shown)
  return without(
    { paused: false, tags: [], ...defaultsOf[kind] },
    {
      ...definition,
      ...(definition["queue_key"] == null && { queue_id }),
      ...(steps !== undefined && {
        steps: shortened(steps, (step) => without(defaultsOfStep, step))
      }),
      ...(rules !== undefined && { rules: shortened(rules, ruleByKeys) })
    }
  )
}

const without = (defaults: DefinitionFields, fields: DefinitionFields): DefinitionFields =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== undefined && !isDeepStrictEqual(value, defaults[name] ?? null)
    )
  )

const shortened = (list: unknown, shorten: (item: DefinitionFields) => DefinitionFields) =>
  (list as ReadonlyArray<DefinitionFields>).map(shorten)

/** Converts a notification rule to keys. Ids remain if not all of the records have keys. */
const ruleByKeys = (rule: DefinitionFields): DefinitionFields => {
  const unnamed = references.flatMap(([ids, keys]) => {
    const countOf = (name: string) => ((rule[name] ?? []) as ReadonlyArray<string>).length
    return countOf(ids) === countOf(keys) ? ids : keys
  })
  return without({}, Struct.omit(rule, unnamed))
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

const fieldsOf = mapKinds((kind) => {
  const fields: Readonly<Record<string, unknown>> = definitionOfKind[kind].fields
  return new Set(
    Object.keys(fields).filter((name) => name !== "version" && fields[name] !== ignored)
  )
})

const decoders = mapKinds((kind) =>
  Schema.decodeUnknownOption(definitionOfKind[kind] as Schema.Codec<DefinitionFields, unknown>)
)

const { unset: unsetInCall } = callOptions
const defaultsOfStep: DefinitionFields = { ...chainStepDefaults, ...unsetInCall }

/**
 * The defaults of each kind, which are not exported. A kind that is not listed exports all its
 * fields.
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
  notification_settings: settingsDefaults
}
