import { classes } from "../classes.ts"

export const Spinner = ({ className }: { readonly className?: string }) => (
  <span
    aria-hidden
    className={classes(
      "size-3.5 animate-spin rounded-full border-2 border-current border-t-transparent",
      className
    )}
  />
)
