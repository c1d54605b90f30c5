import { useIsUnreachable } from "../data/live.ts"
import { StatusDot } from "../ui/values/Status.tsx"

export const UnreachableBanner = () =>
  useIsUnreachable() && (
    <p
      role="status"
      className="sticky top-0 z-20 flex items-center justify-center gap-2.5 border-b border-warn/30 tint-warn px-4 py-1.5 text-sm max-lg:top-14"
    >
      <StatusDot tone="warn" />
      The service cannot be reached. This page may be out of date.
    </p>
  )
