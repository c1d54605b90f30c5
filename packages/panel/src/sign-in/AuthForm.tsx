import type { ComponentProps, ReactNode } from "react"
import { Button } from "../ui/actions/Button.tsx"
import { Problem } from "../ui/messages/Problem.tsx"

/** A form with a single full-width button. */
export const AuthForm = ({
  action,
  children,
  form
}: {
  readonly action: string
  readonly form: {
    readonly submit: ComponentProps<"form">["onSubmit"]
    readonly problem: unknown
    readonly isBusy: boolean
  }
  readonly children: ReactNode
}) => (
  <form className="flex flex-col gap-4" onSubmit={form.submit}>
    {children}
    <Problem error={form.problem} />
    <Button type="submit" look="main" busy={form.isBusy}>
      {action}
    </Button>
  </form>
)
