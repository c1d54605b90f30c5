import { targetCheck } from "@scheduling/calls/egress/targetCheck"
import type { SslEvent } from "@scheduling/domain/monitors/ssl/SslEvent"
import {
  defaultPorts,
  sslDefaults,
  type SslMonitor,
  type SslMonitorInput,
  type SslMonitorUpdate
} from "@scheduling/domain/monitors/ssl/SslMonitor"
import { Effect } from "effect"
import { isIPv6 } from "node:net"
import { isDeepStrictEqual } from "node:util"
import { type MonitorKind, pausing } from "../MonitorKind.ts"
import type { CheckDetails } from "./CertificateChecks.ts"
import { SslMonitorsRepo } from "./SslMonitorsRepo.ts"
import { type SslColumns, type SslRow, type SslSettings, sslTable, toSslMonitor } from "./SslRow.ts"

export interface SslTypes {
  readonly Row: SslRow
  readonly Columns: SslColumns
  readonly Joined: object
  readonly Input: SslMonitorInput
  readonly Changes: SslMonitorUpdate
  readonly Monitor: SslMonitor
  readonly Details: CheckDetails
  readonly Event: SslEvent
}

/** Watches the certificate of a server, which `CertificateChecks` checks. */
export const sslKind = Effect.gen(function* () {
  const checkTargets = yield* targetCheck
  const kind: MonitorKind<SslTypes> = {
    table: sslTable,
    rows: yield* SslMonitorsRepo,
    settingsOf: (input) => ({
      ...sslDefaults,
      port: defaultPorts[input.protocol ?? sslDefaults.protocol],
      ...input
    }),
    settingsAfter: (row, changes) => ({ ...row, ...changes }),
    allow: (_, { host }) =>
      host === undefined
        ? Effect.void
        : checkTargets([{ path: ["host"], url: `https://${isIPv6(host) ? `[${host}]` : host}/` }]),
    columnsOfNew: (_, at) => ({ check_at: at }),
    decideSettings: (row, settings, at) => {
      const { status: from } = row
      const isSame = isDeepStrictEqual(targetOf({ ...row, ...settings }), targetOf(row))
      const isKnown = from !== "new" && from !== "paused"
      return {
        columns: {
          ...settings,
          ...(isSame ? {} : neverChecked),
          failures: 0,
          check_at: from === "paused" ? null : at
        },
        // What the monitor was down for is over.
        changes: isSame || !isKnown ? [] : [{ from, to: "new", at: at.getTime(), cause: null }],
        events: []
      }
    },
    decidePaused: (row, isPaused, at) => ({
      columns: { check_at: isPaused ? null : at, failures: 0 },
      ...pausing(row, isPaused, at)
    }),
    show: toSslMonitor,
    showDetails: (details) => ({
      verification: details.verification ?? null,
      message: details.message ?? null,
      fingerprint_sha256: details.fingerprint_sha256 ?? null,
      duration_ms: details.duration_ms ?? null
    })
  }
  return kind
})

/** What names the certificate that is checked. */
const targetOf = ({ host, port, protocol, server_name }: SslSettings) => ({
  host,
  port,
  protocol,
  name: server_name ?? host
})

const neverChecked = {
  last_check_at: null,
  verification: null,
  message: null,
  certificate: null,
  seen: []
}
