import {
  convertRecords,
  type ConversionResult,
  definedOnly,
  type Fields,
  type ImportResult,
  isFields,
  makeUniqueKeys,
  recordsIn,
  type RecordReader,
  tagsField
} from "./ImportResult.ts"

/**
 * Fields that the import ignores: the state of a monitor, and default values that Uptime Kuma
 * writes for each kind.
 */
const state = [
  "accepted_statuscodes_json",
  "childrenIDs",
  "dns_last_result",
  "forceInactive",
  "id",
  "includeSensitiveData",
  "maintenance",
  "path",
  "pathName",
  "resendInterval",
  "retryInterval",
  "screenshot",
  "weight"
]

/**
 * For each field, the kinds of monitors that use it. Uptime Kuma writes these fields for every
 * monitor. For other kinds they are ignored.
 */
const ofKind: Readonly<Record<string, ReadonlyArray<string>>> = {
  dns_resolve_server: ["dns"],
  dns_resolve_type: ["dns"],
  expiryNotification: ["http", "keyword", "json-query"],
  gamedigGivenPortOnly: ["gamedig"],
  httpBodyEncoding: ["http", "keyword", "json-query"],
  jsonPath: ["json-query"],
  jsonPathOperator: ["json-query"],
  kafkaProducerAllowAutoTopicCreation: ["kafka-producer"],
  kafkaProducerSaslOptions: ["kafka-producer"],
  maxredirects: ["http", "keyword", "json-query"],
  method: ["http", "keyword", "json-query"],
  mqttCheckType: ["mqtt"],
  oauth_auth_method: ["http"],
  packetSize: ["ping"],
  port: ["port", "dns"],
  url: ["http", "keyword", "json-query"]
}

/** Returns the kind of monitor and the settings of its target. */
const targetOf = (monitor: RecordReader, type: string): Fields | string => {
  switch (type) {
    case "http":
    case "keyword":
    case "json-query":
      return httpTarget(monitor, type)
    case "port":
      return {
        kind: "tcp",
        host: monitor.text("hostname"),
        port: monitor.number("port", 1, 65_535)
      }
    case "dns": {
      const port = monitor.number("port", 1, 65_535) ?? 53
      const server = monitor.text("dns_resolve_server").split(",")[0]?.trim() ?? ""
      return {
        kind: "dns",
        host: monitor.text("hostname"),
        record_type: monitor.text("dns_resolve_type") || "A",
        resolver: server === "" ? undefined : port === 53 ? server : `${server}:${port}`
      }
    }
    default:
      return `monitors of the kind ${type}`
  }
}

const httpTarget = (monitor: RecordReader, type: string): Fields | string => {
  const headers = monitor.text("headers")
  const parsed = headers === "" ? {} : parsedHeaders(headers)
  if (parsed === undefined) return "its headers are not a JSON object"
  const codes = monitor.take("accepted_statuscodes")
  const isInverted = monitor.take("invertKeyword") === true
  const keyword = type === "keyword" ? monitor.text("keyword") : ""
  const path = type === "json-query" ? monitor.text("jsonPath") : ""
  const operator = monitor.text("jsonPathOperator") || "=="
  if (path !== "" && (operator !== "==" || !/^[\w$.[\]]+$/.test(path))) {
    return `the JSON query ${path} ${operator}`
  }
  return {
    kind: "http",
    url: monitor.text("url"),
    method: monitor.text("method") || "GET",
    headers: Object.keys(parsed).length > 0 ? parsed : undefined,
    body: monitor.text("body") || undefined,
    follow_redirects: monitor.number("maxredirects", 0, 20) === 0 ? false : undefined,
    success_codes: Array.isArray(codes) && codes.length > 0 ? codes.slice(0, 10) : undefined,
    body_contains: keyword !== "" && !isInverted ? keyword : undefined,
    body_lacks: keyword !== "" && isInverted ? keyword : undefined,
    body_json: path === "" ? undefined : { path, equals: monitor.text("expectedValue") }
  }
}

const parsedHeaders = (text: string): Fields | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

const tagNames = (tags: unknown): ReadonlyArray<unknown> =>
  Array.isArray(tags) ? tags.map((tag) => (isFields(tag) ? tag["name"] : tag)) : []

/** Reads a backup of Uptime Kuma, or its list of monitors. */
export const readKuma = (value: unknown): ImportResult => {
  const keyOf = makeUniqueKeys()
  const convert = (monitor: RecordReader): ConversionResult => {
    const type = monitor.text("type")
    const name = monitor.text("name") || type
    for (const [field, kinds] of Object.entries(ofKind)) {
      if (!kinds.includes(type)) monitor.take(field)
    }
    const interval = monitor.number("interval", 10, 86_400) ?? 60
    const retries = monitor.number("maxretries", 0, 9) ?? 0
    const common = {
      key: keyOf(name),
      name: name.slice(0, 200),
      ...tagsField(tagNames(monitor.take("tags"))),
      paused: [false, 0].includes(monitor.take("active") as boolean) ? true : undefined
    }
    if (type === "push") {
      monitor.take("pushToken")
      monitor.take("timeout")
      const record = { kind: "heartbeat", ...common, period_seconds: Math.max(30, interval) }
      return {
        section: "monitors",
        record: definedOnly(record),
        notes: "replace the push URL in the job with the ping URL"
      }
    }
    if (monitor.take("upsideDown") === true) return "its mode is upside down"
    const target = targetOf(monitor, type)
    if (typeof target === "string") return target
    const timing = {
      interval_seconds: interval,
      timeout_seconds: monitor.number("timeout", 1, 60),
      confirm_after: retries + 1
    }
    return { section: "monitors", record: definedOnly({ ...target, ...common, ...timing }) }
  }
  const list = isFields(value) && isFields(value["monitorList"]) ? value["monitorList"] : undefined
  const records = recordsIn(list === undefined ? value : Object.values(list), "monitorList")
  const nameOf = ({ name }: Fields, index: number) => `monitor ${name ?? index + 1}`
  return convertRecords(records, nameOf, convert, state)
}
