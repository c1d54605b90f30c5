import { createLink } from "@tanstack/react-router"
import type { ComponentProps, ReactNode } from "react"

export const LinkTabs = ({
  children,
  label
}: {
  readonly label: string
  readonly children: ReactNode
}) => (
  <nav
    aria-label={label}
    className="mb-6 flex gap-5 overflow-x-auto overflow-y-hidden border-b border-line"
  >
    {children}
  </nav>
)

export const LinkTab = createLink(({ children, ...rest }: ComponentProps<"a">) => (
  <a
    {...rest}
    className="-mb-px border-b-2 border-transparent px-0.5 pb-2 text-sm font-medium whitespace-nowrap pointer-coarse:pt-2.5 text-faint transition-colors duration-100 hover:text-ink data-[status=active]:border-ink data-[status=active]:text-ink"
  >
    {children}
  </a>
))
