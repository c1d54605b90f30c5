import {
  type Advice,
  type ApiKeyUsage,
  minKeyAgeForAdviceDays,
  maxListedAddresses,
  keyUsageDays
} from "@scheduling/domain/api-keys/ApiKeyUsage"
import type { Scope } from "@scheduling/domain/api-keys/Scope"
import { dayMs } from "../../core/index.ts"
import { timestampOf, timestampOrNull } from "../../store/index.ts"
import type { ApiKeyRow } from "./ApiKeyRepo.ts"
import type { KeyUseRow } from "./KeyUsesRepo.ts"

export const usageObservedSince = (
  { created_at }: Pick<ApiKeyRow, "created_at">,
  now: Date
): Date => new Date(Math.max(created_at.getTime(), now.getTime() - keyUsageDays * dayMs))

/** Summarizes a key's uses and suggests narrower scopes. `uses` must be sorted newest first. */
export const keyUsage = (
  key: Pick<ApiKeyRow, "created_at" | "scopes">,
  uses: ReadonlyArray<KeyUseRow>,
  now: Date
): ApiKeyUsage => {
  const usedAt = new Map(
    uses.filter(({ kind }) => kind === "scope").map((use) => [use.what, use.last_used_at])
  )
  const addresses = (kind: KeyUseRow["kind"]) =>
    uses
      .filter((use) => use.kind === kind)
      .slice(0, maxListedAddresses)
      .map(({ last_used_at, what }) => ({ ip: what, last_used_at: timestampOf(last_used_at) }))
  const used = key.scopes.filter((scope) => usedAt.has(scope))
  return {
    observed_since: timestampOf(usageObservedSince(key, now)),
    scopes: key.scopes.map((scope) => ({
      scope,
      last_used_at: timestampOrNull(usedAt.get(scope))
    })),
    addresses: addresses("address"),
    refused_addresses: addresses("refused_address"),
    suggestion: suggestionFor(
      key,
      used,
      uses.some(({ kind }) => kind === "address"),
      now
    )
  }
}

const suggestionFor = (
  { created_at, scopes }: Pick<ApiKeyRow, "created_at" | "scopes">,
  used: ReadonlyArray<Scope>,
  isUsed: boolean,
  now: Date
): { readonly advice: Advice; readonly scopes: ReadonlyArray<Scope> } => {
  const ageMs = now.getTime() - created_at.getTime()
  if (used.length === scopes.length) return { advice: "keep", scopes }
  if (ageMs < minKeyAgeForAdviceDays * dayMs) return { advice: "wait", scopes }
  if (!isUsed) return { advice: "revoke", scopes: [] }
  // A key that was used only for endpoints without a scope keeps its scopes, because it needs at
  // least one.
  return used.length === 0 ? { advice: "keep", scopes } : { advice: "narrow", scopes: used }
}
