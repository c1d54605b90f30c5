import type { Incident } from "@scheduling/sdk"
import { capitalize } from "../ui/values/format.ts"

/** The codes that say too little without their underscores. */
const names: Partial<Record<Incident["cause"]["code"], string>> = {
  missed: "Missed ping",
  overran: "Run too long",
  too_soon: "Run too early",
  failed: "Failure reported",
  dns: "DNS",
  tls: "TLS",
  http_status: "HTTP status"
}

/** Describes an incident's error code as text: `Missed ping`, `Certificate expiring`. */
export const describeIncidentCode = ({ code }: Incident["cause"]): string =>
  names[code] ?? capitalize(code.replaceAll("_", " "))
