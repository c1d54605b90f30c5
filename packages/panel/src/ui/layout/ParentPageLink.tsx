import { createLink } from "@tanstack/react-router"
import type { ComponentProps } from "react"

export const ParentPageLink = createLink(({ children, ...rest }: ComponentProps<"a">) => (
  <a
    {...rest}
    className="hover:text-ink pointer-coarse:-my-2.5 pointer-coarse:inline-block pointer-coarse:py-2.5"
  >
    {children}
  </a>
))
