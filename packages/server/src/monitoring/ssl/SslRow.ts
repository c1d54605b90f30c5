import type { ServerCertificate } from "@scheduling/calls/tls/CertificateChain"
import type { AuthorizedWorkspaceId } from "@scheduling/domain/auth/CurrentWorkspace"
import type { Certificate } from "@scheduling/domain/monitors/ssl/Certificate"
import type {
  SslMonitor,
  SslProtocol,
  SslVerification
} from "@scheduling/domain/monitors/ssl/SslMonitor"
import type { MonitorId } from "@scheduling/domain/shared/Ids"
import { dayMs } from "../../core/index.ts"
import { timestampOf, timestampOrNull } from "../../store/index.ts"
import { type MonitorRow, toMonitorFields } from "../MonitorsRepo.ts"
import type { SslState } from "./decideLook.ts"

/** What its author wants of it. */
export interface SslSettings {
  readonly host: string
  readonly port: number
  readonly server_name: string | null
  readonly protocol: SslProtocol
  readonly warn_days: ReadonlyArray<number>
  readonly check_interval_seconds: number
}

interface Found {
  readonly failures: number
  readonly verification: SslVerification | null
  readonly message: string | null
  readonly certificate: ServerCertificate | null
  readonly seen: SslState["seen"]
}

/** One that is looked at. What was found is written only while the version is the one it was. */
export interface LookedAtRow extends SslSettings, Found {
  readonly monitor_id: MonitorId
  readonly workspace_id: AuthorizedWorkspaceId
  readonly key: string | null
  readonly version: number
  readonly status: SslState["status"]
}

export interface SslRow extends MonitorRow, SslSettings, Found {
  readonly check_at: Date | null
  readonly last_check_at: Date | null
}

export const toSslMonitor = (row: SslRow, now: Date): SslMonitor => ({
  ...toMonitorFields(row, row.check_at),
  host: row.host,
  port: row.port,
  server_name: row.server_name,
  protocol: row.protocol,
  warn_days: row.warn_days,
  check_interval_seconds: row.check_interval_seconds,
  last_check_at: timestampOrNull(row.last_check_at),
  verification: row.verification,
  verification_message: row.message,
  certificate: row.certificate === null ? null : toCertificate(row.certificate, now)
})

const toCertificate = (certificate: ServerCertificate, now: Date): Certificate => ({
  ...withTimestamps(certificate),
  names: certificate.names,
  serial: certificate.serial,
  days_left: Math.floor((certificate.valid_to - now.getTime()) / dayMs),
  chain: certificate.chain.map(withTimestamps)
})

const withTimestamps = (one: ServerCertificate["chain"][number]) => ({
  subject: one.subject,
  issuer: one.issuer,
  fingerprint_sha256: one.fingerprint_sha256,
  valid_from: timestampOf(new Date(one.valid_from)),
  valid_to: timestampOf(new Date(one.valid_to))
})
