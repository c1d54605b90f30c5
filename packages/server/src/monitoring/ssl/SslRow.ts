import type { ServerCertificate } from "@scheduling/calls/tls/CertificateChain"
import type { Certificate } from "@scheduling/domain/monitors/ssl/Certificate"
import type { SslMonitor, SslProtocol } from "@scheduling/domain/monitors/ssl/SslMonitor"
import { dayMs } from "../../core/index.ts"
import { timestampOf, timestampOrNull } from "../../store/index.ts"
import { type KindRow, type MonitorTable, toMonitorFields } from "../MonitorTable.ts"
import type { SslState } from "./decideSslStatus.ts"

export interface SslSettings {
  readonly host: string
  readonly port: number
  readonly server_name: string | null
  readonly protocol: SslProtocol
  readonly warn_days: ReadonlyArray<number>
  readonly check_interval_seconds: number
}

export interface SslColumns extends SslSettings, Omit<SslState, "status"> {
  readonly check_at: Date | null
  readonly last_check_at: Date | null
}

export interface SslRow extends KindRow<SslState["status"]>, SslColumns {}

export const sslTable: MonitorTable<SslColumns> = {
  kind: "ssl",
  name: "ssl_monitors",
  columns: {
    host: "text",
    port: "integer",
    server_name: "text",
    protocol: "text",
    warn_days: "integer[]",
    check_interval_seconds: "integer",
    check_at: "timestamptz",
    last_check_at: "timestamptz",
    failures: "smallint",
    verification: "text",
    message: "text",
    certificate: "jsonb",
    seen: "jsonb"
  },
  nextCheckAt: "check_at"
}

export const toSslMonitor = (row: SslRow, now: Date): SslMonitor => ({
  ...toMonitorFields(row, now, row.check_at),
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

export const toCertificate = (certificate: ServerCertificate, now: Date): Certificate => ({
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
