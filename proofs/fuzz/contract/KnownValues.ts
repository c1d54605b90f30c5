import { Email } from "@scheduling/domain/auth/emailAddress"
import { ChainInput } from "@scheduling/domain/chains/Chain"
import { TemplateUrl } from "@scheduling/domain/calls/TemplateCall"
import { ExcludedDay, ExcludedDays } from "@scheduling/domain/cron/FiringOptions"
import { MinuteSchedule, Schedule } from "@scheduling/domain/schedules/Schedule"
import { TimeZone } from "@scheduling/domain/schedules/TimeZone"
import { DnsResolver } from "@scheduling/domain/monitors/dns/DnsMonitor"
import { JsonPath } from "@scheduling/domain/monitors/http/HttpMonitor"
import { hostName } from "@scheduling/domain/monitors/ssl/hostName"
import { StatusRange } from "@scheduling/domain/calls/CallOptions"
import { CallHeaders } from "@scheduling/domain/calls/CallHeaders"
import { CallUrl } from "@scheduling/domain/calls/CallUrl"
import { Timestamp, timestampInput } from "@scheduling/domain/shared/Timestamp"
import { Arbitrary, Schema, SchemaAST } from "effect"
import { integerBetween, indexBelow, stringMatching, oneOf } from "./Chance.ts"

type Values = Arbitrary.Arbitrary<unknown>

export const knownSchemas = (sink: string, now: number) => {
  const url = callUrl(sink)
  const known = <S extends Schema.Top>(
    schema: S,
    arbitrary: Arbitrary.Arbitrary<string | object>
  ) => ({
    filters: filtersOf(SchemaAST.toType(schema.ast)),
    arbitrary: Arbitrary.filter(arbitrary, Schema.is(schema))
  })
  return [
    known(CallUrl, url),
    known(TemplateUrl, url),
    known(Schedule, schedule),
    known(MinuteSchedule, schedule),
    known(TimeZone, oneOf([...Intl.supportedValuesOf("timeZone"), "UTC", "Etc/GMT+5"])),
    known(Timestamp, timestamp(now)),
    known(timestampInput("Any."), givenTimestamp(now)),
    known(Email, email),
    // Most values that Effect generates from the pattern would be too long.
    known(hostName("Any."), givenHostName),
    known(ExcludedDay, oneOf(["2026-12-24", "2028-02-29"])),
    known(ExcludedDays, oneOf(["2026-12-24", "2026-12-24,2028-02-29"])),
    known(StatusRange, oneOf(["200", "404", "200-299", "500-599"])),
    known(DnsResolver, oneOf(["9.9.9.9", "127.0.0.1:1", "[2620:fe::fe]:53"])),
    known(JsonPath, oneOf(["status", "$.items[0].state", '["odd key"]'])),
    known(CallHeaders, headers),
    known(ChainInput.fields.steps, steps(url))
  ]
}

/**
 * Generates URLs. A sink URL's path determines the response. Calls to other URLs fail because of
 * egress rules, the kernel or DNS.
 */
const callUrl = (sink: string) =>
  Arbitrary.all([
    oneOf([
      ...Array<string>(12).fill(sink),
      "http://127.0.0.1:1",
      "https://127.0.0.2:1",
      "http://nowhere.invalid",
      "http://[::1]:5432",
      "http://169.254.169.254",
      "http://0x7f.1",
      "http://10.0.0.1:65535"
    ]),
    oneOf([
      "/200",
      "/200",
      "/200",
      "/slow",
      "/json",
      "/404",
      "/500",
      "/retry",
      "/calendar",
      "/drop",
      "/big",
      ""
    ]),
    oneOf([
      "",
      "?",
      "?a=b&a=c",
      "#top",
      "/ä/🦆",
      "/%ff%00",
      "/..//.",
      "?q={}[]|^`",
      `?${"x".repeat(900)}`
    ])
  ]).pipe(Arbitrary.map(([origin, path, rest]) => origin + path + rest))

const givenHostName = oneOf([
  "localhost",
  "127.0.0.1",
  "::1",
  "::ffff:10.0.0.1",
  "nowhere.invalid",
  "xn--mnchen-3ya.de",
  "münchen.de",
  "_dmarc.example.com.",
  `${"a".repeat(63)}.example`,
  `${"a.".repeat(125)}com`
])

const field = (...values: ReadonlyArray<string>) => oneOf(["*", "*", ...values])

/** Generates schedules. Half of them fire within minutes. */
const schedule = Arbitrary.all([
  field("0", "59", "*/5", "0-10/3", "7,8,9", "1-59/58"),
  field("0", "*/2", "23", "9-17", "0,12"),
  field("1", "31", "29", "*/10", "1,15"),
  field("2", "JAN", "feb-DEC/2", "12"),
  field("0", "7", "MON-FRI", "sun", "1,3,5")
]).pipe(Arbitrary.map((fields) => fields.join(" ")))

const minute = 60_000

const givenTimestamp = (now: number) =>
  Arbitrary.all([timestamp(now), oneOf(["Z", "+00:00", "-00:00"])]).pipe(
    Arbitrary.map(([time, offset]) => time.replace("Z", offset))
  )

const timestamp = (now: number) =>
  Arbitrary.all([
    indexBelow(12),
    integerBetween(-90 * minute, 90 * minute),
    oneOf([
      "0000-01-01T00:00:00Z",
      "0001-01-01T00:00:00.000Z",
      "1969-12-31T23:59:59.999999999Z",
      "1970-01-01T00:00:00Z",
      "2000-02-29T12:00:00.1Z",
      "2026-06-30T23:59:59.999Z",
      "2038-01-19T03:14:08Z",
      "9999-12-31T23:59:59.999Z"
    ])
  ]).pipe(
    Arbitrary.map(([kind, offset, extreme]) =>
      kind === 0 ? extreme : new Date(now + offset).toISOString()
    )
  )

const email = Arbitrary.all([
  stringMatching(/^[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,20}$/),
  stringMatching(/^[a-z0-9]{8,16}$/),
  oneOf(["example.com", "sub.example.org", "xn--bcher-kva.example", "bücher.example"])
]).pipe(Arbitrary.map(([local, unique, domain]) => `${local}.${unique}@${domain}`))

const headers = Arbitrary.array(
  Arbitrary.all([
    oneOf([
      "x-",
      "X-Test-",
      "accept",
      "content-type",
      "user-agent",
      "authorization",
      "~!",
      "cookie"
    ]),
    indexBelow(40),
    stringMatching(/^[\t\x20-\x7e]{0,30}$/)
  ]),
  { maxLength: 8 }
).pipe(
  Arbitrary.map((list) =>
    Object.fromEntries(
      list.map(([name, number, value]) => [name.endsWith("-") ? `${name}${number}` : name, value])
    )
  )
)

/** Generates steps with unique names that refer only to earlier steps. */
const steps = (url: Values) => {
  const call = Arbitrary.all({
    url: url as Arbitrary.Arbitrary<string>,
    run_if: oneOf(["success", "failure", "always", undefined]),
    method: oneOf(["GET", "POST", "DELETE", undefined]),
    retry_count: oneOf([0, 1, undefined]),
    body_lacks: oneOf(["error", undefined]),
    earlier: indexBelow(50),
    reference: oneOf([
      "",
      "",
      "{{ steps.NAME.status }}",
      "{{ steps.NAME.body }}",
      "{{steps.NAME.body.items[0].id}}",
      '{{ steps.NAME.body["odd key"] }}',
      "{{ '{{' }}"
    ]),
    place: oneOf(["url", "header", "body"]),
    pause: oneOf<Readonly<Record<string, unknown>> | undefined>([
      ...Array<undefined>(6).fill(undefined),
      { kind: "wait", seconds: 1 },
      { kind: "wait", until: "2026-01-31T09:30:00Z" },
      { kind: "approve", timeout_seconds: 1 },
      { kind: "approve", timeout_seconds: 60, message: "Release {{ input.version }}?" }
    ])
  })
  return Arbitrary.array(call, { minLength: 1, maxLength: 8 }).pipe(
    Arbitrary.map((calls) =>
      calls.map((one, at): Readonly<Record<string, unknown>> => {
        const { earlier, pause, place, reference, url, ...rest } = one
        if (pause !== undefined) return { ...pause, name: nameOf(at) }
        const isPossible = at > 0 || !reference.includes("NAME")
        const text = isPossible ? reference.replace("NAME", nameOf(earlier % Math.max(1, at))) : ""
        const base = url.replace(/#.*/, "")
        return Object.fromEntries(
          Object.entries({
            ...rest,
            name: nameOf(at),
            url:
              place === "url" && text !== ""
                ? `${base}${base.includes("?") ? "&r=" : "/"}${text}`
                : url,
            headers: place === "header" ? { "x-before": text } : undefined,
            body: place === "body" ? `{"before":"${text}"}` : undefined
          }).filter(([, value]) => value !== undefined)
        )
      })
    )
  )
}

const nameOf = (at: number) => (at % 3 === 0 ? `step${at}` : `S-${at}_x`)

type Filters = ReadonlySet<unknown>

/** Returns a schema's filters. Schemas are compared by their filters. */
export const filtersOf = (ast: SchemaAST.AST): Filters => {
  const runs = (checks: ReadonlyArray<SchemaAST.Check<never>> = []): ReadonlyArray<unknown> =>
    checks.flatMap((check) => (check._tag === "Filter" ? [check.run] : runs(check.checks)))
  return new Set(runs(ast.checks))
}

export const isSubset = (left: Filters, right: Filters) =>
  left.size > 0 && [...left].every((run) => right.has(run))
