import { Effect } from "effect"
import type { KeyRing } from "../../core/index.ts"
import type { AuditChainRepo, LinkedAuditEvent, UnlinkedAuditEvent } from "./AuditChainRepo.ts"
import {
  canonicalJson,
  checkMac,
  hashDetails,
  attestedChainEnd,
  hashEvent,
  attestedLinkedEvent,
  attestedUnlinkedEvent
} from "./auditChainHashes.ts"

export interface AuditChainReport {
  readonly events: number
  readonly problems: ReadonlyArray<string>
  readonly lastHash: string
}

interface Expectations {
  /** Events before this time may have been deleted. */
  readonly expiredBefore: Date
  /** Events before this time must be linked. */
  readonly linkedBefore: Date
  readonly knownHash: string | undefined
}

/**
 * Verifies the whole audit log:
 *
 * 1. Unlinked events have a valid MAC. They are verified first, because events are linked in the
 * meantime.
 *
 * 2. Every linked event is unchanged and follows the previous one.
 *
 * 3. The recorded end of the log is the last event.
 *
 * 4. Every account and workspace has an event of its creation.
 *
 * 5. The hash that the operator noted is in the log.
 */
export const verifyAuditChain = Effect.fnUntraced(function* (
  repo: AuditChainRepo["Service"],
  ring: KeyRing,
  { expiredBefore, knownHash, linkedBefore }: Expectations
): Effect.fn.Return<AuditChainReport> {
  const problems = new ChainProblems(ring)
  const unlinked = new Set<string>()
  yield* eachPage(
    (last: UnlinkedAuditEvent | undefined) => repo.listUnlinked(last?.id ?? firstId, pageSize),
    (event) => {
      problems.checkUnlinked(event, linkedBefore)
      unlinked.add(event.id)
    }
  )
  const end = yield* repo.findEnd
  let first: LinkedAuditEvent | undefined
  let last: LinkedAuditEvent | undefined
  let events = 0
  let isEndFound = false
  let isKnownHashFound = false
  yield* eachPage(
    (before: LinkedAuditEvent | undefined) => repo.listLinked(before?.ordinal ?? 0, pageSize),
    (event) => {
      problems.checkLinked(event, last, expiredBefore)
      if (event.ordinal === end?.ordinal && event.hash === end.hash) isEndFound = true
      if (event.hash === knownHash) isKnownHashFound = true
      first ??= event
      last = event
      unlinked.delete(event.id)
      events++
    }
  )
  problems.checkEnd(end, { last, isEndFound, expiredBefore })
  // A log that still has its first event must contain the creation of every account and workspace.
  const hasBeginning = first?.ordinal === 1 && first.created_at >= expiredBefore
  const since = hasBeginning ? new Date(0) : expiredBefore
  for (const { id, kind } of yield* repo.listUnrecorded(since, pageSize)) {
    problems.add(`${kind} ${id}: no event records its creation`)
  }
  if (knownHash !== undefined && !isKnownHashFound) {
    problems.add(
      `no event has the hash ${knownHash}: the log was rewritten or restored from a backup, or the event is older than the retention (AUDIT_RETENTION_DAYS)`
    )
  }
  return {
    events: events + unlinked.size,
    problems: problems.list,
    lastHash: last?.hash ?? ""
  }
})

const eachPage = Effect.fnUntraced(function* <Event>(
  listAfter: (last: Event | undefined) => Effect.Effect<ReadonlyArray<Event>>,
  check: (event: Event) => void
) {
  let page: ReadonlyArray<Event>
  let last: Event | undefined
  do {
    page = yield* listAfter(last)
    for (const event of page) check(event)
    last = page.at(-1)
  } while (page.length === pageSize)
})

class ChainProblems {
  readonly #problems: Array<string> = []
  /** The ids of events whose MACs were made with a secret that is not configured. */
  readonly #unknown: Array<string> = []
  readonly #ring: KeyRing

  constructor(ring: KeyRing) {
    this.#ring = ring
  }

  add(problem: string): void {
    this.#problems.push(problem)
  }

  checkUnlinked(event: UnlinkedAuditEvent, linkedBefore: Date): void {
    this.#checkMac(event, checkMac(this.#ring, attestedUnlinkedEvent(event), event.mac))
    if (event.created_at < linkedBefore) this.#addFor(event, "is not linked to the other events")
  }

  checkLinked(
    event: LinkedAuditEvent,
    before: LinkedAuditEvent | undefined,
    expiredBefore: Date
  ): void {
    const { hash, mac, ordinal } = event
    if (hash === hashEvent(event, event)) {
      this.#checkMac(event, checkMac(this.#ring, attestedLinkedEvent(ordinal, hash), mac))
      if (event.details_hash !== null && !hasValidDetails(event)) {
        this.#addFor(event, "has details that do not match their hash")
      }
    } else {
      this.#addFor(event, "was changed")
    }
    const follows =
      before === undefined
        ? ordinal === 1 && event.previous_hash === ""
        : ordinal === before.ordinal + 1 && event.previous_hash === before.hash
    if (follows || (event.previous_at !== null && event.previous_at < expiredBefore)) return
    this.#addFor(
      event,
      before === undefined
        ? "is the first, but earlier events are missing"
        : "does not follow the previous event"
    )
  }

  checkEnd(
    end: Effect.Success<AuditChainRepo["Service"]["findEnd"]>,
    {
      expiredBefore,
      isEndFound,
      last
    }: {
      readonly last: LinkedAuditEvent | undefined
      readonly isEndFound: boolean
      readonly expiredBefore: Date
    }
  ): void {
    // An empty log has an end without a MAC.
    if (end === undefined || end.mac === "") {
      if (last !== undefined) this.add("the record of the end of the log is missing")
      return
    }
    const found = checkMac(this.#ring, attestedChainEnd(end), end.mac)
    if (found === "wrong") this.add("the recorded end of the log was changed")
    if (found === "unknown") {
      this.add(
        "the recorded end of the log cannot be verified: it was changed, or signed with a secret that is not configured (APP_SECRET_PREVIOUS)"
      )
    }
    // An empty log is complete if its last recorded event is older than the retention period: that
    // event was then deleted as planned.
    const isWhole = isEndFound || (last === undefined && (end.at ?? expiredBefore) < expiredBefore)
    if (!isWhole) this.add("the last events are missing")
  }

  get list(): ReadonlyArray<string> {
    const { length } = this.#unknown
    if (length === 0) return this.#problems
    const what = length === 1 ? "1 event" : `${length} events`
    const ids = `${this.#unknown.slice(0, shownIds).join(", ")}${length > shownIds ? ", …" : ""}`
    return [
      ...this.#problems,
      `${what} cannot be verified: written with a secret that is not configured (APP_SECRET_PREVIOUS), or changed: ${ids}`
    ]
  }

  #checkMac(
    event: UnlinkedAuditEvent | LinkedAuditEvent,
    found: ReturnType<typeof checkMac>
  ): void {
    if (found === "unknown") this.#unknown.push(event.id)
    if (found === "wrong") this.#addFor(event, "was changed, or was not written by the service")
  }

  #addFor(event: UnlinkedAuditEvent | LinkedAuditEvent, text: string): void {
    const owner = event.workspace_id === null ? "accounts" : `workspace ${event.workspace_id}`
    this.add(`${owner}: event ${event.id} ${text}`)
  }
}

/**
 * Verifies an event's details. They may be missing only if the account or workspace was deleted.
 */
const hasValidDetails = ({
  details,
  details_hash,
  details_salt,
  owner_exists,
  request_id
}: LinkedAuditEvent): boolean => {
  if (details_salt !== null)
    return hashDetails(details_salt, request_id, canonicalJson(details)) === details_hash
  const isBlank = request_id === null && JSON.stringify(details) === "{}"
  return isBlank && !owner_exists
}

const firstId = "00000000-0000-0000-0000-000000000000"

const pageSize = 1_000

const shownIds = 10
