import { type ReactNode, useEffect } from "react"
import { Card } from "../ui/layout/Page.tsx"
import { Logo } from "../ui/layout/Logo.tsx"

/** The layout of pages for users who are not signed in. */
export const AuthPage = ({
  below,
  children,
  description,
  title
}: {
  readonly title: string
  readonly description?: ReactNode
  readonly children: ReactNode
  readonly below?: ReactNode
}) => {
  useEffect(() => {
    document.title = `${title} · Scheduling`
  }, [title])
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-[24rem]">
        <p className="mb-6 flex items-center gap-3 font-semibold">
          <Logo className="size-9" />
          Scheduling Service
        </p>
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        {description !== undefined && <p className="mt-1 text-soft">{description}</p>}
        <Card className="mt-6 p-5">{children}</Card>
        {below !== undefined && <div className="mt-5 text-sm text-soft">{below}</div>}
      </div>
    </main>
  )
}

export const textLinkClass = "font-medium text-live hover:underline underline-offset-2"
