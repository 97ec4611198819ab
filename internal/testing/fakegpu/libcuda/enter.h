// The beginning of a function of the driver.
#ifndef DSCONV_FAKE_ENTER_H
#define DSCONV_FAKE_ENTER_H

#define ENTER(needs_context)                                                                                 \
  do {                                                                                                       \
    int status_ = fake_enter(__func__, needs_context);                                                       \
    if (status_)                                                                                             \
      return status_;                                                                                        \
  } while (0)

#endif
