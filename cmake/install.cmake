# What `make install` puts where.
include(GNUInstallDirs)
install(DIRECTORY include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS holdfast_static holdfast_shared
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET holdfast)
  install(TARGETS holdfast RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET holdfast_postgres)
  install(TARGETS holdfast_postgres LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/holdfast)
endif()
