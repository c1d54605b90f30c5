import { forbiddenTargetCheck } from "@scheduling/calls/egress/forbiddenTargetCheck"
import {
  dnsDefaults,
  type DnsMatch,
  type DnsMonitor,
  type DnsMonitorInput,
  type DnsMonitorUpdate,
  type DnsRecordType,
  dnsTargetDefaults,
  parseResolver
} from "@scheduling/domain/monitors/dns/DnsMonitor"
import { Effect } from "effect"
import { checkedKind } from "../checks/checkedKind.ts"
import { toCheckedFields } from "../checks/CheckedRow.ts"
import { withGivenFields } from "../checks/withGivenFields.ts"
import { urlOfHost } from "../checks/urlOfHost.ts"

export interface DnsTarget {
  readonly host: string
  readonly record_type: DnsRecordType
  readonly resolver: string | null
  readonly expected_values: ReadonlyArray<string> | null
  readonly match: DnsMatch
}

/** Defines the DNS monitor, which looks up records. */
export const dnsMonitorKind = Effect.gen(function* () {
  const checkTargets = yield* forbiddenTargetCheck
  return yield* checkedKind<DnsTarget, DnsMonitorInput, DnsMonitorUpdate, DnsMonitor>({
    kind: "dns",
    defaults: dnsDefaults,
    toTarget: ({ host, ...input }) =>
      withGivenFields<DnsTarget>({ ...dnsTargetDefaults, host }, input),
    changeTarget: withGivenFields,
    identityOf: ({ host, record_type, resolver }) => ({ host, record_type, resolver }),
    checkTarget: ({ resolver = null }) => {
      const ip = resolver === null ? undefined : parseResolver(resolver)?.ip
      return ip === undefined
        ? Effect.void
        : checkTargets([{ path: ["resolver"], url: urlOfHost(ip) }])
    },
    show: (row, at) => ({ ...toCheckedFields(row, at), ...row.target })
  })
})
