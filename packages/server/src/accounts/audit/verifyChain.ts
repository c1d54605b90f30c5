import { Effect } from "effect"
import type { KeyRing } from "../../core/index.ts"
import type { AuditChainRepo, LinkedEvent, UnlinkedEvent } from "./AuditChainRepo.ts"
import {
  checkMac,
  detailsHashOf,
  endOfChain,
  eventHashOf,
  linkedEvent,
  writtenEvent
} from "./chain.ts"

export interface ChainReport {
  readonly events: number
  readonly problems: ReadonlyArray<string>
  /** The hash of the last event. */
  readonly lastHash: string
}

interface Expectations {
  /** Events from before may be gone. */
  readonly expiredBefore: Date
  /** Events from before must have a link. */
  readonly linkedBefore: Date
  readonly knownHash: string | undefined
}

/** Walks over all audit events, and over the accounts and workspaces that must be among them. */
export const verifyChain = Effect.fnUntraced(function* (
  repo: AuditChainRepo["Service"],
  ring: KeyRing,
  { expiredBefore, knownHash, linkedBefore }: Expectations
): Effect.fn.Return<ChainReport> {
  const problems: Array<string> = []
  /** Events whose secret is not given. */
  const unknown: Array<string> = []
  const unlinked = new Set<string>()
  let events = 0
  let isKnownHashFound = false

  const accuse = (
    event: { readonly id: string; readonly workspace_id: string | null },
    text: string
  ) => {
    const owner = event.workspace_id === null ? "accounts" : `workspace ${event.workspace_id}`
    problems.push(`${owner}: event ${event.id} ${text}`)
  }

  const checkContent = (event: LinkedEvent) => {
    const { hash, mac, ordinal } = event
    if (hash !== eventHashOf(event, event)) return accuse(event, "was changed")
    const found = checkMac(ring, linkedEvent(ordinal, hash), mac)
    if (found === "unknown") unknown.push(event.id)
    if (found === "wrong") accuse(event, "was changed, or was not written by the service")
    if (event.details_hash !== null && !hasItsDetails(event)) accuse(event, "has other details")
  }

  const checkPosition = (event: LinkedEvent, before: LinkedEvent | undefined) => {
    const follows =
      before === undefined
        ? event.ordinal === 1 && event.previous_hash === ""
        : event.ordinal === before.ordinal + 1 && event.previous_hash === before.hash
    if (follows || (event.previous_at !== null && event.previous_at < expiredBefore)) return
    accuse(
      event,
      before === undefined ? "has lost what came before it" : "does not follow the one before it"
    )
  }

  // In this order, because more events may be linked while this goes on.
  let afterId = firstId
  let waiting: ReadonlyArray<UnlinkedEvent>
  do {
    waiting = yield* repo.listUnlinked(afterId, pageSize)
    for (const event of waiting) {
      const found = checkMac(ring, writtenEvent(event), event.mac)
      if (found === "unknown") unknown.push(event.id)
      if (found === "wrong") accuse(event, "was changed, or was not written by the service")
      if (event.created_at < linkedBefore) accuse(event, "is not linked to the others")
      unlinked.add(event.id)
      afterId = event.id
    }
  } while (waiting.length === pageSize)
  const end = yield* repo.findEnd
  let first: LinkedEvent | undefined
  let before: LinkedEvent | undefined
  let isEndFound = false
  let page: ReadonlyArray<LinkedEvent>
  do {
    page = yield* repo.listLinked(before?.ordinal ?? 0, pageSize)
    for (const event of page) {
      checkContent(event)
      checkPosition(event, before)
      if (event.ordinal === end?.ordinal && event.hash === end.hash) isEndFound = true
      if (event.hash === knownHash) isKnownHashFound = true
      first ??= event
      before = event
      unlinked.delete(event.id)
      events++
    }
  } while (page.length === pageSize)

  // The service begins an empty log with an end that has no MAC.
  if (end === undefined || end.mac === "") {
    if (before !== undefined) problems.push("the end of the log is not recorded any more")
  } else {
    const found = checkMac(ring, endOfChain(end), end.mac)
    if (found === "wrong") problems.push("the recorded end of the log was changed")
    if (found === "unknown") {
      problems.push(
        "the recorded end of the log cannot be verified: signed with a secret that is not given (APP_SECRET_PREVIOUS), or changed"
      )
    }
    // All events may be older than events are kept.
    const isWhole =
      isEndFound || (before === undefined && (end.at ?? expiredBefore) < expiredBefore)
    if (!isWhole) problems.push("the last events are missing")
  }

  // A log from its first event on has the creation of every account and workspace.
  const hasBeginning = first?.ordinal === 1 && first.created_at >= expiredBefore
  const since = hasBeginning ? new Date(0) : expiredBefore
  for (const { id, kind } of yield* repo.listUnrecorded(since, pageSize)) {
    problems.push(`${kind} ${id}: the event of its creation is missing`)
  }

  if (unknown.length > 0) {
    const what = unknown.length === 1 ? "1 event" : `${unknown.length} events`
    problems.push(
      `${what} cannot be verified: written with a secret that is not given (APP_SECRET_PREVIOUS), or changed: ${unknown.slice(0, shownIds).join(", ")}${unknown.length > shownIds ? ", …" : ""}`
    )
  }
  if (knownHash !== undefined && !isKnownHashFound) {
    problems.push(
      `no event has the hash ${knownHash}: the log was rewritten or set back, or the event is older than events are kept (AUDIT_RETENTION_DAYS)`
    )
  }
  return { events: events + unlinked.size, problems, lastHash: before?.hash ?? "" }
})

/** Details may only be gone together with the account or the workspace that the event belongs to. */
const hasItsDetails = ({
  details,
  details_hash,
  details_salt,
  owner_exists,
  request_id
}: LinkedEvent): boolean => {
  if (details_salt !== null)
    return detailsHashOf(details_salt, request_id, details) === details_hash
  const isBlank = request_id === null && JSON.stringify(details) === "{}"
  return isBlank && !owner_exists
}

const firstId = "00000000-0000-0000-0000-000000000000"

const pageSize = 1_000

/** More would not be read. */
const shownIds = 10
