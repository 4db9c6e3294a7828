/* Windows' messages for the errors of HNS, which Wine's message table lacks. */
#pragma once

void messages_repair(void);
