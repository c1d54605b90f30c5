import type { ApiKey } from "@scheduling/sdk"
import { statusDetailClass } from "../ui/lists/List.tsx"
import { Status } from "../ui/values/Status.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"

type Known = Pick<ApiKey, "expires_at" | "is_active" | "revoked_at">

const stateOf = ({ is_active, revoked_at }: Known): "active" | "expired" | "revoked" =>
  is_active ? "active" : revoked_at === null ? "expired" : "revoked"

export const KeyStatus = ({ of: key }: { readonly of: Known }) => {
  const state = stateOf(key)
  const at = state === "revoked" ? key.revoked_at : key.expires_at
  return (
    <>
      <Status of={state} tone={state === "active" ? "ok" : "none"} />
      {at !== null && (
        <span className={statusDetailClass}>
          {state === "active" && "expires "}
          <RelativeTime at={at} />
        </span>
      )}
    </>
  )
}
