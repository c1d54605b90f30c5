import { Schema, Struct } from "effect"
import { oneOf } from "../../shared/oneOf.ts"
import { deriveOptions } from "../../shared/deriveOptions.ts"
import { keyInput } from "../../shared/requests/CallerChosenKey.ts"
import { ListPage } from "../../shared/requests/ListQuery.ts"
import { putFields } from "../../shared/requests/putBody.ts"
import { versionInput } from "../../shared/requests/Version.ts"
import { patchFields } from "../../shared/requests/optionalWithDefault.ts"
import { text } from "../../shared/Text.ts"
import { exampleOfCheck } from "../checks/Check.ts"
import { checkFields, checkSettings } from "../checks/checkFields.ts"
import { exampleOfMonitor, monitorFields, monitorInput, monitorPausedInput } from "../Monitor.ts"
import { hostName } from "../ssl/hostName.ts"

export const DnsRecordType = oneOf(["A", "AAAA", "CAA", "CNAME", "MX", "NS", "SOA", "SRV", "TXT"], {
  identifier: "DnsRecordType",
  description:
    "The type of the records. Values are written as in zone files: `10 mail.example.com` (MX), " +
    "`0 5 5060 sip.example.com` (SRV), `0 issue letsencrypt.org` (CAA), and the serial number (SOA)."
})
export type DnsRecordType = typeof DnsRecordType.Type

export const DnsMatch = oneOf(["all", "exactly", "any"], {
  identifier: "DnsMatch",
  description:
    "Which of `expected_values` must be in the answer. `all`: all of them, and possibly " +
    "others. `exactly`: all of them and no others. `any`: at least one."
})
export type DnsMatch = typeof DnsMatch.Type

const longest = 47

/**
 * Matches an IPv4 address or an IPv6 address in brackets, with an optional port. An IPv6 address
 * without a port needs no brackets.
 */
const address =
  /^(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([\da-f.:]{2,45})\])(?::(\d{1,5}))?$|^([\da-f]{0,4}:[\da-f.:]{1,44})$/i

/** Parses a name server's address and port. Returns undefined if the text is not valid. */
export const parseResolver = (
  resolver: string
): { readonly ip: string; readonly port: number } | undefined => {
  const [, v4, bracketed, port = "53", v6] = address.exec(resolver) ?? []
  const ip = v4 ?? bracketed ?? v6
  if (ip === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined
  const isAddress = URL.canParse(`http://${v4 === undefined ? `[${ip}]` : ip}/`)
  return isAddress ? { ip, port: Number(port) } : undefined
}

export const DnsResolver = Schema.String.check(
  Schema.makeFilter((resolver) => parseResolver(resolver) !== undefined, {
    expected: "an IP address, such as 9.9.9.9, 9.9.9.9:5353 or [2620:fe::fe]:53",
    toJsonSchema: () => ({ minLength: 2, maxLength: longest + 6 })
  })
)

/** The query, the name server and the expected answer. */
const target = deriveOptions({
  record_type: { absent: "A", input: DnsRecordType, shown: DnsRecordType, default: "A" },
  resolver: {
    absent: "The name servers of the service",
    input: Schema.NullOr(DnsResolver).annotate({
      description: "The address of the name server to query, optionally with a port.",
      examples: ["9.9.9.9"]
    }),
    shown: Schema.NullOr(Schema.String).annotate({
      description: "The address of the name server. Null: the name servers of the service."
    }),
    default: null
  },
  expected_values: {
    absent: "Any answer",
    input: Schema.NullOr(
      Schema.Array(text({ min: 1, max: 500 })).check(
        Schema.isBetweenLength(1, 20),
        Schema.isUnique()
      )
    ).annotate({
      description: "The values to find in the answer, according to `match`. At most 20.",
      examples: [["192.0.2.10", "192.0.2.11"]]
    }),
    shown: Schema.NullOr(Schema.Array(Schema.String)).annotate({
      description: "The values to find in the answer. Null if any record is sufficient."
    }),
    default: null
  },
  match: { absent: "all", input: DnsMatch, shown: DnsMatch, default: "all" }
})

/** The default values of a DNS monitor, without those of `dnsTargetDefaults`. */
export const dnsDefaults = { key: null, tags: [], ...checkSettings.defaults } as const
/** The default values of the fields that say what to check. */
export const dnsTargetDefaults = target.defaults

const fields = {
  ...monitorInput,
  host: hostName("The name whose records are looked up."),
  ...target.input,
  ...checkSettings.input
}

const exampleDefinition = {
  name: "Records of the site",
  host: "www.example.com",
  expected_values: ["192.0.2.10"]
}

const inputFields = { ...fields, ...keyInput, ...monitorPausedInput }

export const DnsMonitorInput = Schema.Struct(inputFields).annotate({
  identifier: "DnsMonitorInput",
  examples: [exampleDefinition]
})
export type DnsMonitorInput = typeof DnsMonitorInput.Type

export const DnsMonitorUpdate = Schema.Struct(patchFields(inputFields))
  .mapFields(Struct.assign(versionInput))
  .annotate({
    identifier: "DnsMonitorUpdate",
    description:
      "The fields to change. Absent fields keep their values. The target is checked again. Changing the host, record type or resolver makes the monitor `new` again and closes its incident.",
    examples: [{ interval_seconds: 300 }]
  })
export type DnsMonitorUpdate = typeof DnsMonitorUpdate.Type

export const DnsMonitor = Schema.Struct({
  ...monitorFields,
  host: Schema.String.annotate({ description: "The name whose records are looked up." }),
  ...target.fields,
  ...checkFields
}).annotate({
  identifier: "DnsMonitor",
  examples: [
    {
      ...exampleOfMonitor,
      ...target.defaults,
      ...exampleDefinition,
      ...checkSettings.defaults,
      failures: 0,
      place_results: [],
      last_check: {
        at: "2026-01-31T09:30:00.000Z",
        ...exampleOfCheck,
        connect_ms: null,
        tls_ms: null,
        wait_ms: null,
        status_code: null,
        certificate_expires_at: null,
        values: ["192.0.2.10"]
      }
    }
  ]
})
export type DnsMonitor = typeof DnsMonitor.Type

export const DnsMonitorDefinition = Schema.Struct(
  putFields({ ...fields, ...monitorPausedInput, ...versionInput }, DnsMonitor)
).annotate({
  identifier: "DnsMonitorDefinition",
  description:
    "A DNS monitor whose key is in the path. Absent fields get their defaults. Fields that " +
    "only responses have are ignored.",
  examples: [exampleDefinition]
})
export type DnsMonitorDefinition = typeof DnsMonitorDefinition.Type

export const DnsMonitorPage = ListPage("DnsMonitorPage", DnsMonitor)
