import { createLink } from "@tanstack/react-router"
import type { ComponentProps } from "react"

export const ParentPageLink = createLink(({ children, ...rest }: ComponentProps<"a">) => (
  <a {...rest} className="hover:text-ink">
    {children}
  </a>
))
