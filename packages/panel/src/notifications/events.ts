import type { DeliveredEvent, NotificationDelivery, NotificationEvent } from "@scheduling/sdk"

/** The events that rules can match, by group. */
export const eventGroups: ReadonlyArray<
  readonly [group: string, events: ReadonlyArray<NotificationEvent>]
> = [
  [
    "Tasks",
    ["execution.failed", "chain_run.failed", "task.recovered", "task.paused", "approval.requested"]
  ],
  [
    "Monitors",
    ["incident.opened", "incident.closed", "certificate.expiring", "certificate.changed"]
  ],
  [
    "The service",
    ["worker.offline", "worker.online", "api_key.expiring", "quota.near", "channel.paused"]
  ]
]

const goesDown = "goes down"

/** Which records an event is about, and what happens to them. */
const eventClauses: Readonly<
  Record<NotificationEvent, readonly [nouns: ReadonlyArray<string>, verb: string]>
> = {
  "execution.failed": [["task"], "fails"],
  "chain_run.failed": [["chain"], "fails"],
  "task.recovered": [["task", "chain"], "recovers"],
  "task.paused": [["task", "chain"], "is paused by the service"],
  "approval.requested": [["step of a chain"], "waits for approval"],
  "incident.opened": [["monitor"], goesDown],
  "incident.closed": [["monitor"], "recovers"],
  "certificate.expiring": [["certificate"], "expires soon"],
  "certificate.changed": [["certificate"], "changes"],
  "worker.offline": [["worker"], "goes offline"],
  "worker.online": [["worker"], "comes online"],
  "api_key.expiring": [["API key"], "expires soon"],
  "quota.near": [["quota"], "is nearly used up"],
  "channel.paused": [["channel"], "is paused by the service"],
  test: [["channel"], "is tested"]
}

const allEvents = eventGroups.flatMap(([, events]) => events)

/**
 * Describes when a rule applies: `a task, chain or monitor fails or recovers, or a certificate
 * expires soon`. With tags, the records are restricted to those: `a monitor tagged billing goes
 * down`.
 */
export const describeEvents = (
  events: ReadonlyArray<NotificationEvent>,
  tags: ReadonlyArray<string> = []
): string => {
  const verbsByNoun = new Map<string, ReadonlyArray<string>>()
  for (const event of allEvents.filter((one) => events.includes(one))) {
    const [nouns, verb] = eventClauses[event]
    for (const noun of nouns) verbsByNoun.set(noun, [...(verbsByNoun.get(noun) ?? []), verb])
  }
  const nounsByVerbs = new Map<string, ReadonlyArray<string>>()
  for (const [noun, verbs] of verbsByNoun) {
    // A monitor that goes down is named together with the tasks that fail.
    const key = joinNames(verbs, "or").replace(goesDown, "fails")
    nounsByVerbs.set(key, [...(nounsByVerbs.get(key) ?? []), noun])
  }
  const tagged = tags.length === 0 ? "" : ` tagged ${joinNames(tags, "or")}`
  const clauses = [...nounsByVerbs].map(([verbs, nouns]) => {
    const article = /^[aeiou]/i.test(nouns[0] ?? "") ? "an" : "a"
    const predicate = nouns.join() === "monitor" ? verbs.replace("fails", goesDown) : verbs
    return `${article} ${joinNames(nouns, "or")}${tagged} ${predicate}`
  })
  return clauses.length < 2
    ? clauses.join("")
    : `${clauses.slice(0, -1).join(", ")}, or ${clauses.at(-1) ?? ""}`
}

/** The predicates of sentences about events. */
const predicates: Readonly<Record<string, string>> = {
  "execution.failed": "failed",
  "execution.succeeded": "succeeded",
  "chain_run.failed": "failed",
  "chain_run.succeeded": "succeeded",
  "task.recovered": "recovered",
  "task.paused": "was paused by the service",
  "approval.requested": "waits for approval",
  "incident.opened": "went down",
  "incident.closed": "recovered",
  "certificate.expiring": "has a certificate that expires soon",
  "certificate.changed": "has a new certificate",
  "worker.offline": "went offline",
  "worker.online": "came online",
  "api_key.expiring": "expires soon",
  "quota.near": "is nearly used up",
  "channel.paused": "was paused by the service",
  test: "was tested"
}

/** Describes an event as text: `Nightly report failed`. */
export const describeEvent = ({
  name,
  type
}: {
  readonly name: string
  readonly type: DeliveredEvent
}) => `${name} ${predicates[type] ?? type}`

/** Returns a delivery's title: `Nightly report failed, and 2 more`. */
export const deliveryTitle = ({
  events,
  events_count
}: Pick<NotificationDelivery, "events" | "events_count">): string => {
  const [first] = events
  if (first === undefined) return "Request to confirm the address"
  return describeEvent(first) + (events_count > 1 ? `, and ${events_count - 1} more` : "")
}

/** Joins items as text: `a, b and c`. */
export const joinNames = (items: ReadonlyArray<string>, word: "and" | "or" = "and"): string =>
  items.length < 2
    ? items.join("")
    : `${items.slice(0, -1).join(", ")} ${word} ${items.at(-1) ?? ""}`

/** The events preselected in a new rule: failures and recoveries. */
export const defaultRuleEvents: ReadonlyArray<NotificationEvent> = [
  "execution.failed",
  "chain_run.failed",
  "task.recovered",
  "incident.opened",
  "incident.closed",
  "certificate.expiring"
]
