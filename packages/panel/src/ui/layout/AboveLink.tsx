import { createLink } from "@tanstack/react-router"
import type { ComponentProps } from "react"

/** The link above a title, to the list of the record. */
export const AboveLink = createLink(({ children, ...rest }: ComponentProps<"a">) => (
  <a {...rest} className="hover:text-ink">
    {children}
  </a>
))
