import type { ReactNode } from "react"
import { Code } from "./Code.tsx"

/** A secret that can be seen now and never again. */
export const ShownOnce = ({
  children,
  label,
  secret,
  title
}: {
  readonly title: string
  /** What the secret is: `key`. */
  readonly label: string
  readonly secret: string
  readonly children?: ReactNode
}) => (
  <div className="flex min-w-0 flex-col gap-3 rounded-xl border border-live/40 tint-live p-5">
    <p role="status" className="font-semibold">
      {title}
    </p>
    <Code label={label} text={secret} wrap />
    {children}
  </div>
)
